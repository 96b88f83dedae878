//! Headers of IPv6.

use super::Place;

/// Bytes of the first header.
pub(crate) const HEADER: usize = 40;
/// Headers that may stand between those of IPv6 and of the transport: options on the way, the route,
/// options at the destination.
const BETWEEN: [u8; 3] = [0, 43, 60];
/// Protocol number of the header of a fragment.
pub(crate) const FRAGMENT: u8 = 44;

/// What follows the headers of IPv6, a fragment's included; `None` where they are cut off.
pub(crate) fn place(bytes: &[u8]) -> Option<Place> {
    let fixed: &[u8; HEADER] = bytes.first_chunk()?;
    let (mut protocol, mut at) = (fixed[6], HEADER);
    while BETWEEN.contains(&protocol) {
        let [next, length]: [u8; 2] = *bytes.get(at..)?.first_chunk()?;
        (protocol, at) = (next, at + 8 * (usize::from(length) + 1));
    }
    Some(Place { protocol, at })
}

/// The traffic class, which lies across the first two bytes.
pub(super) fn class([first, second]: [u8; 2]) -> u8 {
    first << 4 | second >> 4
}

/// The first two bytes with this traffic class.
pub(super) fn with_class([_, second]: [u8; 2], class: u8) -> [u8; 2] {
    [0x60 | class >> 4, class << 4 | second & 15]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_written_where_it_is_read() {
        for to in 0..=255 {
            let bytes = with_class([0x61, 0x2f], to);
            assert_eq!((class(bytes), bytes[0] >> 4, bytes[1] & 15), (to, 6, 15));
        }
    }

    #[test]
    fn headers_that_are_cut_off_lead_nowhere() {
        let mut bytes = [0; 56];
        (bytes[0], bytes[6], bytes[40]) = (0x60, 60, 17);
        assert_eq!(place(&bytes), Some(Place { protocol: 17, at: 48 }));
        (bytes[41], bytes[40]) = (1, 0);
        assert_eq!(place(&bytes), None, "what follows begins at the end");
        assert_eq!(place(&bytes[..39]), None);
    }
}
