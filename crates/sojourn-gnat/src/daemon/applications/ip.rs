//! IPv4 packets of programs: what a node reads of them, and how it writes other addresses into TCP's.

use std::net::{Ipv4Addr, SocketAddrV4};

/// Protocols.
pub(super) const IGMP: u8 = 2;
pub(super) const TCP: u8 = 6;
const UDP: u8 = 17;

/// Bytes of headers without options.
const IP_HEADER: usize = 20;
const TCP_HEADER: usize = 20;
/// Where checksums are.
const IP_CHECKSUM: usize = 10;
const TCP_CHECKSUM: usize = 16;
/// Flags of TCP.
const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;

/// Both ends of what a packet belongs to, with port 0 where a protocol has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Ends {
    pub(super) from: SocketAddrV4,
    pub(super) to: SocketAddrV4,
}

impl Ends {
    /// Those of what is answered.
    pub(super) fn reversed(self) -> Self {
        Ends { from: self.to, to: self.from }
    }
}

/// What the headers of a packet say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) ends: Ends,
    pub(super) protocol: u8,
    pub(super) dscp: u8,
    /// Bytes of the packet.
    pub(super) length: usize,
    /// Bytes of IP's header.
    header: usize,
    /// TCP's flags.
    flags: u8,
}

impl Head {
    /// That of a whole IPv4 packet, after which bytes may follow; of TCP, a packet that is no fragment and
    /// has all of its header.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        let fixed = bytes.first_chunk::<IP_HEADER>()?;
        let header = 4 * usize::from(fixed[0] & 15);
        let length = usize::from(word(fixed, 2));
        if fixed[0] >> 4 != 4 || header < IP_HEADER || length < header || length > bytes.len() {
            return None;
        }
        let (protocol, above) = (fixed[9], &bytes[header..length]);
        // Only the first fragment has ports.
        let (offset, more) = (word(fixed, 6) & 0x1fff, word(fixed, 6) & 0x2000 != 0);
        let has_ports = offset == 0 && [TCP, UDP].contains(&protocol) && above.len() >= 4;
        let ports = if has_ports { [word(above, 0), word(above, 2)] } else { [0; 2] };
        let flags = match protocol {
            TCP if offset > 0 || more || above.len() < TCP_HEADER => return None,
            TCP => above[13],
            _ => 0,
        };
        let end = |at: usize, port| SocketAddrV4::new(address(fixed, at), port);
        let ends = Ends { from: end(12, ports[0]), to: end(16, ports[1]) };
        Some(Head { ends, protocol, dscp: fixed[1] >> 2, length, header, flags })
    }

    /// Whether it asks for a connection.
    pub(super) fn asks(&self) -> bool {
        self.flags & (SYN | ACK | RST) == SYN
    }

    /// Gives a TCP packet, of which this is the head, other ends.
    pub(super) fn rewrite(&self, bytes: &mut [u8], ends: Ends) {
        let old = spelled(self.ends);
        let new = spelled(ends);
        let (ip, tcp) = bytes.split_at_mut(self.header);
        ip[12..20].copy_from_slice(&new[..8]);
        tcp[..4].copy_from_slice(&new[8..]);
        adjust(ip, IP_CHECKSUM, &old[..8], &new[..8]);
        adjust(tcp, TCP_CHECKSUM, &old, &new);
    }

    /// The reset that answers a TCP packet of a connection that nobody knows; none answers a reset.
    pub(super) fn refusal(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        if self.flags & RST != 0 {
            return None;
        }
        let tcp = &bytes[self.header..self.length];
        let (number, acknowledged) = (double(tcp, 4), double(tcp, 8));
        let data = tcp.len().saturating_sub(4 * usize::from(tcp[12] >> 4)) as u32;
        let ends_of = u32::from(self.flags & SYN != 0) + u32::from(self.flags & FIN != 0);
        // RFC 9293, 3.10.7.1.
        let (number, acknowledges, flags) = match self.flags & ACK {
            0 => (0, number.wrapping_add(data + ends_of), RST | ACK),
            _ => (acknowledged, 0, RST),
        };
        let mut packet = vec![0; IP_HEADER + TCP_HEADER];
        let (ip, answer) = packet.split_at_mut(IP_HEADER);
        let spelled = spelled(self.ends.reversed());
        ip[0] = 0x45;
        ip[3] = (IP_HEADER + TCP_HEADER) as u8;
        ip[8] = 64;
        ip[9] = TCP;
        ip[12..].copy_from_slice(&spelled[..8]);
        answer[..4].copy_from_slice(&spelled[8..]);
        answer[4..8].copy_from_slice(&number.to_be_bytes());
        answer[8..12].copy_from_slice(&acknowledges.to_be_bytes());
        answer[12] = ((TCP_HEADER / 4) << 4) as u8;
        answer[13] = flags;
        let pseudo = [&spelled[..8], &[0, TCP, 0, TCP_HEADER as u8]].concat();
        let of_ip = !sum(0, ip);
        let of_tcp = !sum(sum(0, &pseudo), answer);
        ip[IP_CHECKSUM..][..2].copy_from_slice(&of_ip.to_be_bytes());
        answer[TCP_CHECKSUM..][..2].copy_from_slice(&of_tcp.to_be_bytes());
        Some(packet)
    }
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn double(bytes: &[u8], at: usize) -> u32 {
    u32::from(word(bytes, at)) << 16 | u32::from(word(bytes, at + 2))
}

fn address(bytes: &[u8; IP_HEADER], at: usize) -> Ipv4Addr {
    Ipv4Addr::new(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3])
}

/// Addresses and ports as they stand in the headers.
fn spelled(ends: Ends) -> [u8; 12] {
    let mut bytes = [0; 12];
    bytes[..4].copy_from_slice(&ends.from.ip().octets());
    bytes[4..8].copy_from_slice(&ends.to.ip().octets());
    bytes[8..10].copy_from_slice(&ends.from.port().to_be_bytes());
    bytes[10..].copy_from_slice(&ends.to.port().to_be_bytes());
    bytes
}

/// The ones' complement sum of these words and of what was summed before.
fn sum(before: u16, bytes: &[u8]) -> u16 {
    let words =
        bytes.chunks(2).map(|two| u32::from(two[0]) << 8 | two.get(1).map_or(0, |b| u32::from(*b)));
    let mut sum = words.sum::<u32>() + u32::from(before);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// A checksum after whole words that it covers have changed (RFC 1624).
fn adjust(bytes: &mut [u8], at: usize, old: &[u8], new: &[u8]) {
    let inverted: Vec<u8> = old.iter().map(|byte| !byte).collect();
    let changed = sum(sum(!word(bytes, at), &inverted), new);
    bytes[at..at + 2].copy_from_slice(&(!changed).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(from: &str, to: &str) -> Ends {
        Ends { from: from.parse().unwrap(), to: to.parse().unwrap() }
    }

    /// A TCP packet with right checksums.
    fn packet(of: Ends, flags: u8, data: &[u8]) -> Vec<u8> {
        // The refusal of a connection's first packet is one, but for flags and data.
        let mut first = vec![0; 40];
        first[0] = 0x45;
        first[3] = 40;
        first[9] = TCP;
        let spelled = spelled(of.reversed());
        first[12..20].copy_from_slice(&spelled[..8]);
        first[20..24].copy_from_slice(&spelled[8..]);
        first[32] = 5 << 4;
        first[33] = SYN;
        let mut packet = Head::of(&first).unwrap().refusal(&first).unwrap();
        packet.extend(data);
        let length = packet.len();
        let old = [0, 40, packet[32], packet[33]];
        packet[3] = length as u8;
        packet[33] = flags;
        adjust(&mut packet[..20], IP_CHECKSUM, &old[..2], &[0, length as u8]);
        let (before, after) =
            ([[0, 20], [old[2], old[3]]], [[0, length as u8 - 20], [old[2], flags]]);
        adjust(&mut packet[20..], TCP_CHECKSUM, &before.concat(), &after.concat());
        let even = [data, &[0; 1][..data.len() % 2]].concat();
        adjust(&mut packet[20..], TCP_CHECKSUM, &vec![0; even.len()], &even);
        packet
    }

    /// Sums over all that checksums cover are all ones.
    fn is_whole(packet: &[u8]) -> bool {
        let pseudo =
            [&packet[12..20], &[0, TCP], &(packet.len() as u16 - 20).to_be_bytes()].concat();
        sum(0, &packet[..20]) == 0xffff && sum(sum(0, &pseudo), &packet[20..]) == 0xffff
    }

    #[test]
    fn other_ends_leave_checksums_right() {
        let (old, new) =
            (ends("10.9.1.1:49152", "10.9.2.1:80"), ends("169.254.78.1:1", "10.9.1.1:65535"));
        for data in [&b""[..], b"one", b"four", &[255; 31]] {
            let mut bytes = packet(old, ACK, data);
            assert!(is_whole(&bytes));
            let head = Head::of(&bytes).unwrap();
            assert_eq!((head.ends, head.length, head.asks()), (old, 40 + data.len(), false));
            head.rewrite(&mut bytes, new);
            assert!(is_whole(&bytes), "{data:?}");
            assert_eq!(Head::of(&bytes).unwrap().ends, new);
            assert_eq!(&bytes[40..], data);
        }
    }

    #[test]
    fn what_nobody_knows_is_refused_as_tcp_expects() {
        let of = ends("10.9.1.1:49152", "10.9.2.1:80");
        let mut bytes = packet(of, ACK, b"data");
        bytes[28..32].copy_from_slice(&77_u32.to_be_bytes());
        let refusal = Head::of(&bytes).unwrap().refusal(&bytes).unwrap();
        assert!(is_whole(&refusal));
        let head = Head::of(&refusal).unwrap();
        assert_eq!((head.ends, head.flags), (of.reversed(), RST));
        assert_eq!(double(&refusal, 24), 77);
        assert_eq!(head.refusal(&refusal), None);
        let mut bytes = packet(of, SYN, b"");
        bytes[24..28].copy_from_slice(&u32::MAX.to_be_bytes());
        let head = Head::of(&bytes).unwrap();
        let refusal = head.refusal(&bytes).unwrap();
        assert!(head.asks() && is_whole(&refusal));
        assert_eq!((double(&refusal, 24), double(&refusal, 28), refusal[33]), (0, 0, RST | ACK));
    }

    #[test]
    fn what_is_no_packet_is_none() {
        let whole = packet(ends("10.9.1.1:1", "10.9.2.1:2"), SYN, b"data");
        assert!(Head::of(&whole).is_some());
        for (at, byte) in [(0, 0x65), (0, 0x44), (0, 0x4f), (2, 1), (3, 19), (6, 0x20), (7, 1)] {
            let mut other = whole.clone();
            other[at] = byte;
            assert_eq!(Head::of(&other), None, "byte {at}");
        }
        assert!((0..whole.len()).all(|length| Head::of(&whole[..length]).is_none()));
        let mut fragment = whole.clone();
        (fragment[7], fragment[9]) = (1, UDP);
        let head = Head::of(&fragment).unwrap();
        assert_eq!((head.ends.from.port(), head.ends.to.port()), (0, 0));
    }
}
