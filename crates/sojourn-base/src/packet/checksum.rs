//! The Internet checksum (RFC 1071).

/// Checksum of bytes in which it is still zero; 0 for bytes in which it is correct.
#[inline]
pub fn checksum(bytes: &[u8]) -> u16 {
    checksum_of([bytes])
}

/// The same of parts that follow each other, each but the last with an even number of bytes.
#[inline]
pub fn checksum_of<const N: usize>(parts: [&[u8]; N]) -> u16 {
    let sum = parts.into_iter().fold(0, |sum, part| add(sum, sum_of(part)));
    let mut sum = (sum & 0xffff_ffff) + (sum >> 32);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    (!(sum as u16)).to_be()
}

/// The sum of words, four at a time: carries come back at the lower end, so that it is folded as that of
/// single words is. It has the machine's order of bytes.
#[inline]
fn sum_of(part: &[u8]) -> u64 {
    let (fours, rest) = part.as_chunks::<8>();
    let sum = fours.iter().fold(0, |sum, four| add(sum, u64::from_ne_bytes(*four)));
    let (pairs, rest) = rest.as_chunks::<4>();
    let sum = pairs.iter().fold(sum, |sum, pair| add(sum, u32::from_ne_bytes(*pair).into()));
    if rest.is_empty() {
        return sum;
    }
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    add(sum, u32::from_ne_bytes(last).into())
}

/// A sum whose carry is added to it.
#[inline]
fn add(a: u64, b: u64) -> u64 {
    let (sum, carry) = a.overflowing_add(b);
    sum + u64::from(carry)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 1071, section 3: 0001 f203 f4f5 f6f7 add up to 2ddf0, folded ddf2.
    #[test]
    fn it_is_that_of_the_example_however_it_is_parted() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(checksum(&bytes), !0xddf2);
        assert_eq!(checksum_of([&bytes[..4], &bytes[4..]]), !0xddf2);
        assert_eq!(checksum(&[0xab]), !0xab00, "an odd byte is the upper half of a word");
        let whole = [&bytes[..], &checksum(&bytes).to_be_bytes()].concat();
        assert_eq!(checksum(&whole), 0);
    }

    #[test]
    fn it_is_that_of_single_words() {
        let bytes: Vec<u8> = (0..97_u32).map(|i| (i * i + 200) as u8).collect();
        for length in 0..bytes.len() {
            let words = bytes[..length]
                .chunks(2)
                .map(|word| u32::from(word[0]) << 8 | word.get(1).map_or(0, |low| u32::from(*low)));
            let mut sum: u32 = words.sum();
            while sum > 0xffff {
                sum = (sum & 0xffff) + (sum >> 16);
            }
            assert_eq!(checksum(&bytes[..length]), !(sum as u16), "{length}");
        }
    }
}
