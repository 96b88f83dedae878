//! Headers of IPv4 and IPv6 packets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::left::Left;
use crate::wire::ipv6::{self, FRAGMENT, HEADER};
use crate::wire::{FRAGMENTED, Headers, Place, TCP, UDP, parse_beginning};

/// The headers of a packet, and its addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    /// Where it comes from, and where it goes.
    pub(crate) ends: [SocketAddr; 2],
    pub(crate) headers: Headers,
}

/// Reads the first bytes of a packet; the frame that it is in has room for `room` bytes, some of which
/// may follow the packet.
pub(crate) fn read(bytes: &[u8], room: usize) -> Result<Packet, Left> {
    match bytes.first().map(|first| first >> 4) {
        Some(4) => read_4(bytes, room),
        Some(6) => read_6(bytes, room),
        Some(_) => Err(Left::NotIp),
        None => Err(Left::Cut),
    }
}

fn read_4(bytes: &[u8], room: usize) -> Result<Packet, Left> {
    let fixed: &[u8; 20] = bytes.first_chunk().ok_or(Left::Cut)?;
    let number = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
    if number(6) & FRAGMENTED != 0 {
        return Err(Left::Fragment);
    }
    if ![TCP, UDP].contains(&fixed[9]) {
        return Err(Left::Transport);
    }
    let headers = parse_beginning(bytes, told(number(2).into(), room)).ok_or(Left::Cut)?;
    let address = |at: usize| {
        let [a, b, c, d] = [0, 1, 2, 3].map(|byte| fixed[at + byte]);
        IpAddr::V4(Ipv4Addr::new(a, b, c, d))
    };
    Ok(Packet::new([address(12), address(16)], headers))
}

fn read_6(bytes: &[u8], room: usize) -> Result<Packet, Left> {
    let fixed: &[u8; HEADER] = bytes.first_chunk().ok_or(Left::Cut)?;
    let length = usize::from(u16::from_be_bytes([fixed[4], fixed[5]]));
    let size = told(if length == 0 { 0 } else { HEADER + length }, room);
    let Place { protocol, .. } = ipv6::place(bytes).ok_or(Left::Cut)?;
    match protocol {
        TCP | UDP => {}
        FRAGMENT => return Err(Left::Fragment),
        _ => return Err(Left::Transport),
    }
    let headers = parse_beginning(bytes, size).ok_or(Left::Cut)?;
    let address = |at: usize| {
        let mut octets = [0; 16];
        octets.copy_from_slice(&fixed[at..at + 16]);
        IpAddr::V6(Ipv6Addr::from(octets))
    };
    Ok(Packet::new([address(8), address(24)], headers))
}

/// The size that a packet tells; zero stands for one that has no room in its field.
fn told(size: usize, room: usize) -> usize {
    if size == 0 { room } else { size }
}

impl Packet {
    fn new([source, destination]: [IpAddr; 2], headers: Headers) -> Self {
        let [from, to] = headers.ports;
        let ends = [SocketAddr::new(source, from), SocketAddr::new(destination, to)];
        Packet { ends, headers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An IPv4 packet of 1,000 bytes with a UDP header, of which 40 bytes are there.
    fn udp_4() -> Vec<u8> {
        let mut bytes = vec![0; 40];
        bytes[..4].copy_from_slice(&[0x45, 0, 3, 0xe8]);
        bytes[9] = UDP;
        bytes[12..24].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2, 0, 7, 0, 9]);
        bytes
    }

    /// An IPv6 packet with a TCP header after `between`, and 100 bytes of payload.
    fn tcp_6(between: &[u8], protocol: u8) -> Vec<u8> {
        let length = (between.len() + 20 + 100) as u16;
        let mut bytes = vec![0; 40];
        bytes[..2].copy_from_slice(&[0x60, 0x30]); // CE
        bytes[4..6].copy_from_slice(&length.to_be_bytes());
        bytes[6] = protocol;
        (bytes[23], bytes[39]) = (1, 2);
        bytes.extend(between);
        bytes.extend([0, 7, 0, 9, 0, 0, 0, 1, 0, 0, 0, 0, 5 << 4, 0x10, 0, 0, 0, 0, 0, 0]);
        bytes
    }

    #[test]
    fn the_size_is_that_which_the_packet_tells() {
        let packet = read(&udp_4(), 1000).unwrap();
        assert_eq!((packet.headers.size, packet.headers.payload), (1000, 972));
        assert_eq!(packet.ends.map(|end| end.to_string()), ["10.0.0.1:7", "10.0.0.2:9"]);
        // A small packet is filled up in its frame; one of an interface that cuts it up tells none.
        assert_eq!(read(&udp_4(), 1100), Ok(packet));
        let mut large = udp_4();
        large[2..4].fill(0);
        assert_eq!(read(&large, 60_000).unwrap().headers.size, 60_000);
    }

    #[test]
    fn headers_of_ipv6_may_have_others_between() {
        let packet = read(&tcp_6(&[], TCP), 160).unwrap();
        assert_eq!((packet.headers.payload, packet.headers.size), (100, 160));
        assert_eq!(packet.headers.ecn, sojourn_base::packet::Ecn::Ce);
        assert_eq!(packet.ends.map(|end| end.to_string()), ["[::1]:7", "[::2]:9"]);
        let options = [TCP, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(read(&tcp_6(&options, 60), 176).unwrap().headers.payload, 100);
        assert_eq!(read(&tcp_6(&[], 60)[..40], 160), Err(Left::Cut));
        assert_eq!(read(&tcp_6(&[], FRAGMENT), 160), Err(Left::Fragment));
        assert_eq!(read(&tcp_6(&[], 58), 160), Err(Left::Transport));
    }

    #[test]
    fn what_is_no_whole_header_is_left_out() {
        let mut fragment = udp_4();
        fragment[6] = 0x20;
        assert_eq!(read(&fragment, 1000), Err(Left::Fragment));
        let mut ping = udp_4();
        ping[9] = 1;
        assert_eq!(read(&ping, 1000), Err(Left::Transport));
        assert_eq!(read(&udp_4()[..19], 1000), Err(Left::Cut));
        assert_eq!(read(&[0x10; 40], 1000), Err(Left::NotIp));
        assert_eq!(read(&[], 0), Err(Left::Cut));
    }
}
