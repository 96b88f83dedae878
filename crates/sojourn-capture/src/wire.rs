//! Parsing and changing of IPv4, TCP and UDP headers, as far as the network and the metrics need.

pub use sojourn_base::packet::checksum::checksum;
use sojourn_base::packet::{Address, Dscp, Ecn, FiveTuple, Flags, Header, Packet};

/// The transport of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A segment.
    Tcp(Segment),
    /// A datagram.
    Udp,
}

/// A TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of its first byte.
    pub seq: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// The flags, as in the header's 14th byte.
    pub flags: u8,
    /// What has arrived beyond `ack`.
    pub sacks: Sacks,
}

/// The blocks of a SACK option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sacks {
    blocks: [[u32; 2]; 4],
    count: usize,
}

impl Sacks {
    /// Adds a block: its first sequence number, and the one after its last. An option has room for
    /// four.
    pub fn add(&mut self, block: [u32; 2]) {
        if let Some(place) = self.blocks.get_mut(self.count) {
            *place = block;
            self.count += 1;
        }
    }

    /// The blocks.
    pub fn blocks(&self) -> &[[u32; 2]] {
        &self.blocks[..self.count]
    }
}

impl Segment {
    const FIN: u8 = 0x01;
    const SYN: u8 = 0x02;
    const RST: u8 = 0x04;
    const ACK: u8 = 0x10;
    const ECE: u8 = 0x40;
    const CWR: u8 = 0x80;

    /// Whether it opens a connection.
    pub fn is_syn(&self) -> bool {
        self.flags & Self::SYN != 0
    }

    /// Whether it carries an acknowledgment.
    pub fn has_ack(&self) -> bool {
        self.flags & Self::ACK != 0
    }

    /// Its flags as those of an acknowledgment, if it carries nothing else except SACK blocks.
    pub fn as_ack(&self) -> Option<Flags> {
        let more = self.flags & (Self::FIN | Self::SYN | Self::RST) != 0;
        let has = |bit| self.flags & bit != 0;
        let flags = Flags::ACK.with(Flags::ECE, has(Self::ECE)).with(Flags::CWR, has(Self::CWR));
        (self.has_ack() && !more).then_some(flags)
    }

    /// Whether it echoes congestion and is not part of a handshake.
    pub fn echoes_ce(&self) -> bool {
        self.flags & Self::ECE != 0 && !self.is_syn()
    }
}

/// A packet's headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// Bytes of the IP packet.
    pub size: u32,
    /// ECN field.
    pub ecn: Ecn,
    /// DiffServ codepoint.
    pub dscp: Dscp,
    /// Source and destination port.
    pub ports: [u16; 2],
    /// Bytes of payload.
    pub payload: u16,
    /// The transport.
    pub transport: Transport,
}

impl Headers {
    /// The packet number `index` at this address, as it enters the network at `side`: the sender's,
    /// which is 0, or the receiver's.
    pub fn packet(&self, address: &Address, side: usize, index: u32, header: Header) -> Packet {
        let packet = address.packet(index, self.size, header);
        let ports = u32::from(self.ports[side]) << 16 | u32::from(self.ports[1 - side]);
        let tuple = FiveTuple { ports, ..packet.tuple };
        let way = packet.way.with_dscp(self.dscp);
        Packet { ecn: self.ecn, way, tuple, ..packet }
    }
}

/// Protocol number of TCP.
pub const TCP: u8 = 6;
/// Protocol number of UDP.
pub const UDP: u8 = 17;

/// The headers of an IPv4 packet of TCP or UDP; `None` for others.
pub fn parse(bytes: &[u8]) -> Option<Headers> {
    parse_beginning(bytes, bytes.len())
}

/// The same of an IPv4 packet of `size` bytes, of which these are the first.
pub fn parse_beginning(bytes: &[u8], size: usize) -> Option<Headers> {
    let first = *bytes.first()?;
    let ip = usize::from(first & 15) * 4;
    if first >> 4 != 4 || ip < 20 {
        return None;
    }
    let (protocol, class) = (*bytes.get(9)?, bytes[1]);
    parse_transport(bytes, size, ip, [protocol, class])
}

/// The headers of an IP packet of `size` bytes, of which these are the first: of one whose transport
/// begins after `ip` bytes, and whose header has this protocol and traffic class.
pub fn parse_transport(
    bytes: &[u8],
    size: usize,
    ip: usize,
    [protocol, class]: [u8; 2],
) -> Option<Headers> {
    let transport = bytes.get(ip..)?;
    let (header, kind) = match protocol {
        TCP => {
            let header = usize::from(transport.get(12)? >> 4) * 4;
            let flags = *transport.get(13)?;
            let (seq, ack) = (number(transport, 4)?, number(transport, 8)?);
            let sacks = transport.get(20..header).map(sacks).unwrap_or_default();
            (header, Transport::Tcp(Segment { seq, ack, flags, sacks }))
        }
        UDP => (8, Transport::Udp),
        _ => return None,
    };
    let port = |at: usize| Some(u16::from_be_bytes([*transport.get(at)?, *transport.get(at + 1)?]));
    Some(Headers {
        size: u32::try_from(size).ok()?,
        ecn: ecn(class),
        dscp: Dscp::of_class(class),
        ports: [port(0)?, port(2)?],
        payload: u16::try_from(size.checked_sub(ip + header)?).ok()?,
        transport: kind,
    })
}

/// The blocks of a SACK option among these.
fn sacks(mut options: &[u8]) -> Sacks {
    const END: u8 = 0;
    const PADDING: u8 = 1;
    const SACK: u8 = 5;
    let mut sacks = Sacks::default();
    while let [kind, rest @ ..] = options {
        options = match (*kind, rest.first()) {
            (PADDING, _) => rest,
            (END, _) | (_, None) => break,
            // The length counts kind and length.
            (kind, Some(length)) => {
                let size = usize::from(*length).max(2) - 1;
                let (option, after) = rest.split_at(size.min(rest.len()));
                let blocks = if kind == SACK { &option[1..] } else { &[] };
                for block in blocks.chunks_exact(8) {
                    let edge = |at: usize| number(block, at).unwrap_or_default();
                    sacks.add([edge(0), edge(4)]);
                }
                after
            }
        };
    }
    sacks
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn ecn(traffic_class: u8) -> Ecn {
    match traffic_class & 3 {
        0 => Ecn::NotEct,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

/// Writes the ECN field of a packet; updates the header's checksum.
pub fn set_ecn(bytes: &mut [u8], to: Ecn) {
    let dscp = Dscp::of_class(bytes[1]);
    set_class(bytes, dscp, to);
}

/// Writes the traffic class with which a packet leaves the network: codepoint and ECN field; updates
/// the header's checksum (RFC 1624).
pub fn set_class(bytes: &mut [u8], dscp: Dscp, ecn: Ecn) {
    let class = dscp.number() << 2 | ecn.codepoint();
    if bytes[1] == class {
        return;
    }
    let before = [bytes[0], bytes[1]];
    bytes[1] = class;
    let after = [bytes[0], bytes[1]];
    amend(&mut bytes[10..12], &before, &after);
}

/// Sets the identification of an IPv4 packet; updates the header's checksum (RFC 1624).
pub fn set_identification(bytes: &mut [u8], to: u16) {
    let before = [bytes[4], bytes[5]];
    bytes[4..6].copy_from_slice(&to.to_be_bytes());
    amend(&mut bytes[10..12], &before, &to.to_be_bytes());
}

/// Sets the addresses of an IPv4 packet; updates the checksums.
pub fn readdress(bytes: &mut [u8], source: [u8; 4], destination: [u8; 4]) {
    let mut after = [0; 8];
    after[..4].copy_from_slice(&source);
    after[4..].copy_from_slice(&destination);
    let mut before = [0; 8];
    before.copy_from_slice(&bytes[12..20]);
    bytes[12..20].copy_from_slice(&after);
    amend(&mut bytes[10..12], &before, &after);
    let ip = usize::from(bytes[0] & 15) * 4;
    let place = match bytes[9] {
        TCP => ip + 16,
        UDP => ip + 6,
        _ => return,
    };
    // A UDP checksum of zero means none.
    let checksum = bytes.get_mut(place..place + 2).filter(|checksum| **checksum != [0, 0]);
    if let Some(checksum) = checksum {
        amend(checksum, &before, &after);
    }
}

/// Updates a checksum after a change (RFC 1624).
fn amend(checksum: &mut [u8], before: &[u8], after: &[u8]) {
    let words = |bytes: &[u8]| -> Vec<u16> {
        bytes.chunks_exact(2).map(|word| u16::from_be_bytes([word[0], word[1]])).collect()
    };
    let mut sum = u32::from(!u16::from_be_bytes([checksum[0], checksum[1]]));
    sum += words(before).iter().map(|word| u32::from(!word)).sum::<u32>();
    sum += words(after).iter().map(|word| u32::from(*word)).sum::<u32>();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    checksum.copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An IPv4 header with a right checksum, and a TCP header with options and `payload` bytes.
    fn packet(payload: usize) -> Vec<u8> {
        let mut bytes = vec![0; 20 + 32 + payload];
        let size = bytes.len() as u16;
        bytes[..4].copy_from_slice(&[0x45, 2, (size >> 8) as u8, size as u8]);
        bytes[8..10].copy_from_slice(&[64, TCP]);
        bytes[12..20].copy_from_slice(&[10, 77, 0, 1, 10, 77, 0, 2]);
        bytes[20..24].copy_from_slice(&[0x30, 0x39, 0x27, 0x10]);
        bytes[24..32].copy_from_slice(&[0, 0, 0, 7, 0, 0, 0, 9]);
        bytes[32..34].copy_from_slice(&[8 << 4, 0x50]);
        let sum = checksum(&bytes[..20]);
        bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        bytes
    }

    #[test]
    fn headers_are_read() {
        let headers = parse(&packet(100)).unwrap();
        assert_eq!((headers.size, headers.payload), (152, 100));
        assert_eq!((headers.ports, headers.ecn), ([12345, 10000], Ecn::Ect0));
        let Transport::Tcp(segment) = headers.transport else { panic!("{headers:?}") };
        assert_eq!((segment.seq, segment.ack), (7, 9));
        assert!(segment.has_ack() && segment.echoes_ce() && !segment.is_syn());
    }

    #[test]
    fn acknowledgments_with_sack_are_told_from_plain_ones() {
        let mut bytes = packet(0);
        let sacks = |bytes: &[u8]| match parse(bytes).unwrap().transport {
            Transport::Tcp(segment) => (segment.sacks.blocks().to_vec(), segment.as_ack()),
            Transport::Udp => panic!("not TCP"),
        };
        let flags = Flags::ACK.with(Flags::ECE, true);
        let timestamps = [1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 5];
        bytes[40..52].copy_from_slice(&timestamps);
        assert_eq!(sacks(&bytes), (vec![], Some(flags)));
        bytes[40..52].copy_from_slice(&[1, 1, 5, 10, 0, 0, 0, 5, 0, 0, 0, 6]);
        assert_eq!(sacks(&bytes), (vec![[5, 6]], Some(flags)));
        bytes[33] = 0x11; // FIN
        assert_eq!(sacks(&bytes).1, None);
        bytes[40] = 0;
        assert!(sacks(&bytes).0.is_empty());
        bytes[40..52].fill(2); // a length that says nothing
        bytes[41] = 0;
        assert!(sacks(&bytes).0.is_empty());
    }

    #[test]
    fn what_is_cut_off_or_foreign_is_not_read() {
        let whole = packet(0);
        for length in 0..52 {
            assert_eq!(parse(&whole[..length]), None, "{length}");
        }
        assert_eq!(parse(&[0x60; 60]), None);
    }

    #[test]
    fn the_beginning_of_a_packet_tells_as_much() {
        let whole = packet(100);
        assert_eq!(parse_beginning(&whole[..52], 152), parse(&whole));
        // Without its options a header tells the rest.
        assert_eq!(parse_beginning(&whole[..40], 152), parse(&whole));
        assert_eq!(parse_beginning(&whole[..33], 152), None);
        assert_eq!(parse_beginning(&whole, 51), None);
    }

    #[test]
    fn the_checksum_follows_the_mark() {
        for to in [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce] {
            let mut bytes = packet(10);
            let dscp = "ef".parse().unwrap();
            set_class(&mut bytes, dscp, Ecn::NotEct);
            set_ecn(&mut bytes, to);
            let headers = parse(&bytes).unwrap();
            assert_eq!((headers.ecn, headers.dscp), (to, dscp));
            assert_eq!(checksum(&bytes[..20]), 0);
        }
    }

    #[test]
    fn checksums_follow_the_addresses() {
        let mut bytes = packet(0);
        readdress(&mut bytes, [10, 77, 1, 2], [10, 77, 1, 1]);
        assert_eq!(bytes[12..20], [10, 77, 1, 2, 10, 77, 1, 1]);
        assert_eq!(checksum(&bytes[..20]), 0);
    }
}
