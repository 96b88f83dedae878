//! Parsing and changing of headers of IPv4 and IPv6, TCP and UDP, as far as the network and the metrics
//! need.

mod change;
pub(crate) mod ipv6;

pub use change::{readdress, set_class, set_ecn, set_identification};
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

/// The headers of a packet of TCP or UDP; `None` for others, and for parts of one.
pub fn parse(bytes: &[u8]) -> Option<Headers> {
    parse_beginning(bytes, bytes.len())
}

/// The same of a packet of `size` bytes, of which these are the first.
pub fn parse_beginning(bytes: &[u8], size: usize) -> Option<Headers> {
    let Place { protocol, at } = place(bytes)?;
    parse_transport(bytes, size, at, [protocol, class_of(bytes)?])
}

/// Where the transport of an IP packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its protocol number.
    pub protocol: u8,
    /// The bytes before it.
    pub at: usize,
}

/// In IPv4, that more fragments follow, and the place of this one.
pub(crate) const FRAGMENTED: u16 = 0x3fff;

/// Where the transport of a packet is; `None` for a fragment, and where the IP header is cut off.
pub fn place(bytes: &[u8]) -> Option<Place> {
    match bytes.first()? >> 4 {
        4 => {
            let fixed: &[u8; 20] = bytes.first_chunk()?;
            let at = usize::from(fixed[0] & 15) * 4;
            let part = u16::from_be_bytes([fixed[6], fixed[7]]) & FRAGMENTED != 0;
            (at >= 20 && !part).then_some(Place { protocol: fixed[9], at })
        }
        6 => ipv6::place(bytes).filter(|place| place.protocol != ipv6::FRAGMENT),
        _ => None,
    }
}

/// The address to which a packet goes, in 4 bytes or 16.
pub fn destination(bytes: &[u8]) -> Option<&[u8]> {
    match bytes.first()? >> 4 {
        4 => bytes.get(16..20),
        6 => bytes.get(24..ipv6::HEADER),
        _ => None,
    }
}

/// Codepoint and ECN field of a packet.
pub fn class(bytes: &[u8]) -> Option<(Dscp, Ecn)> {
    let class = class_of(bytes)?;
    Some((Dscp::of_class(class), ecn(class)))
}

/// The traffic class of a packet of either version.
fn class_of(bytes: &[u8]) -> Option<u8> {
    match *bytes {
        [first, second, ..] if first >> 4 == 4 => Some(second),
        [first, second, ..] if first >> 4 == 6 => Some(ipv6::class([first, second])),
        _ => None,
    }
}

/// The headers of an IP packet of `size` bytes, of which these are the first: of one whose transport
/// begins after `ip` bytes, and whose header has this protocol and traffic class.
fn parse_transport(
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

    /// The same packet in IPv6, after these headers, the first of which has this number.
    fn packet_6(payload: usize, between: &[u8], first: u8) -> Vec<u8> {
        let mut bytes = vec![0; 40];
        let rest = [between, &packet(payload)[20..]].concat();
        bytes[..2].copy_from_slice(&[0x60, 0x2f]);
        bytes[4..6].copy_from_slice(&(rest.len() as u16).to_be_bytes());
        bytes[6] = first;
        (bytes[23], bytes[39]) = (1, 2);
        [bytes, rest].concat()
    }

    #[test]
    fn ipv6_carries_the_same() {
        let (four, six) = (parse(&packet(100)).unwrap(), packet_6(100, &[], TCP));
        assert_eq!(parse(&six), Some(Headers { size: 172, ..four }));
        let options = [TCP, 0, 1, 4, 0, 0, 0, 0];
        assert_eq!(parse(&packet_6(100, &options, 60)), Some(Headers { size: 180, ..four }));
        assert_eq!(parse(&packet_6(100, &options, ipv6::FRAGMENT)), None);
        assert_eq!(destination(&six).unwrap()[15], 2);
        assert_eq!(destination(&packet(0)), Some(&[10, 77, 0, 2][..]));
        let (mut marked, dscp) = (six.clone(), "ef".parse().unwrap());
        set_class(&mut marked, dscp, Ecn::NotEct);
        set_ecn(&mut marked, Ecn::Ce);
        assert_eq!(class(&marked), Some((dscp, Ecn::Ce)));
        assert_eq!((marked[1] & 15, &marked[2..]), (15, &six[2..]), "nothing else changes");
    }

    #[test]
    fn a_part_of_a_packet_has_no_headers_to_rely_on() {
        for fragment in [[0x20, 0], [0, 1]] {
            let mut bytes = packet(100);
            bytes[6..8].copy_from_slice(&fragment);
            assert_eq!(parse(&bytes), None);
        }
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
