//! The Internet checksum (RFC 1071).

/// Checksum of bytes in which it is still zero; 0 for bytes in which it is correct.
#[inline]
pub fn checksum(bytes: &[u8]) -> u16 {
    checksum_of(&[bytes])
}

/// The same of parts that follow each other, each but the last with an even number of bytes.
#[inline]
pub fn checksum_of(parts: &[&[u8]]) -> u16 {
    let mut sum: u64 = parts.iter().map(|part| sum_of(part)).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    (!(sum as u16)).to_be()
}

/// The sum of words, two at a time: what the upper one adds is folded with the rest. In the machine's
/// order of bytes, which the sum has as well.
#[inline]
fn sum_of(part: &[u8]) -> u64 {
    let (pairs, rest) = part.as_chunks::<4>();
    let whole: u64 = pairs.iter().map(|pair| u64::from(u32::from_ne_bytes(*pair))).sum();
    if rest.is_empty() {
        return whole;
    }
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    whole + u64::from(u32::from_ne_bytes(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 1071, section 3: 0001 f203 f4f5 f6f7 add up to 2ddf0, folded ddf2.
    #[test]
    fn it_is_that_of_the_example_however_it_is_parted() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(checksum(&bytes), !0xddf2);
        assert_eq!(checksum_of(&[&bytes[..4], &bytes[4..]]), !0xddf2);
        assert_eq!(checksum(&[0xab]), !0xab00, "an odd byte is the upper half of a word");
        let whole = [&bytes[..], &checksum(&bytes).to_be_bytes()].concat();
        assert_eq!(checksum(&whole), 0);
    }
}
