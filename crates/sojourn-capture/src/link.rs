//! IP packets in the frames of links, by tcpdump's numbers of types of links.

use crate::file::Frame;
use crate::left::Left;

const NULL: i32 = 0;
const ETHERNET: i32 = 1;
/// Raw IP, as some systems number it in files.
const RAW_BSD: i32 = 12;
const RAW: i32 = 101;
const LOOP: i32 = 108;
/// The pseudo-device of all interfaces on Linux, in two versions.
const COOKED: i32 = 113;
const COOKED_2: i32 = 276;
const IPV4: i32 = 228;
const IPV6: i32 = 229;

/// Tags of virtual networks, each of four bytes.
const TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];
const TAG: usize = 4;
/// What a frame says that it has.
const TYPES: [u16; 2] = [0x0800, 0x86dd];

/// The first bytes of the IP packet in a frame, and the bytes from there on, captured or not.
pub(crate) fn packet(link: i32, frame: &Frame) -> Result<(&[u8], usize), Left> {
    let bytes = &frame.bytes[..];
    let begin = match link {
        RAW | RAW_BSD | IPV4 | IPV6 => 0,
        NULL | LOOP => 4,
        ETHERNET => typed(bytes, 12)?,
        COOKED => typed(bytes, 14)?,
        COOKED_2 => match TYPES.contains(&number(bytes, 0)?) {
            true => 20,
            false => return Err(Left::NotIp),
        },
        _ => return Err(Left::Link),
    };
    let packet = bytes.get(begin..).filter(|packet| !packet.is_empty()).ok_or(Left::Cut)?;
    Ok((packet, frame.size - begin))
}

/// Where a packet begins after its type, which is at `place`, or after tags.
fn typed(bytes: &[u8], mut place: usize) -> Result<usize, Left> {
    while TAGS.contains(&number(bytes, place)?) {
        place += TAG;
    }
    TYPES.contains(&number(bytes, place)?).then_some(place + 2).ok_or(Left::NotIp)
}

fn number(bytes: &[u8], at: usize) -> Result<u16, Left> {
    let pair = bytes.get(at..at + 2).ok_or(Left::Cut)?;
    Ok(u16::from_be_bytes([pair[0], pair[1]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begins(link: i32, head: &[u8]) -> Result<(Vec<u8>, usize), Left> {
        let bytes = [head, &[0x45, 1]].concat();
        let size = bytes.len() + 100;
        let frame = Frame { time: None, interface: 0, towards: None, bytes, size };
        packet(link, &frame).map(|(bytes, size)| (bytes.to_vec(), size))
    }

    #[test]
    fn packets_begin_after_the_header_of_their_link() {
        let zeros = |count| vec![0; count];
        let heads = [
            (RAW, vec![]),
            (NULL, vec![2, 0, 0, 0]),
            (ETHERNET, [zeros(12), vec![8, 0]].concat()),
            (ETHERNET, [zeros(12), vec![0x81, 0, 0, 7, 0x86, 0xdd]].concat()),
            (COOKED, [zeros(14), vec![8, 0]].concat()),
            (COOKED_2, [vec![8, 0], zeros(18)].concat()),
        ];
        for (link, head) in heads {
            assert_eq!(begins(link, &head), Ok((vec![0x45, 1], 102)), "{link}");
        }
    }

    #[test]
    fn what_has_no_packet_is_left_out() {
        let arp = [vec![0; 12], vec![8, 6]].concat();
        assert_eq!(begins(ETHERNET, &arp), Err(Left::NotIp));
        assert_eq!(begins(ETHERNET, &[0; 4]), Err(Left::Cut));
        assert_eq!(begins(147, &[]), Err(Left::Link));
        let tags = [vec![0; 12], vec![0x81, 0, 0, 7]].concat();
        assert_eq!(begins(ETHERNET, &tags), Err(Left::NotIp));
    }
}
