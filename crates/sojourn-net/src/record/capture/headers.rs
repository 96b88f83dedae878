//! Simulated packets as bytes: IPv4, and UDP or TCP. What a simulated packet does not have is made
//! up from what it has: addresses from numbers of hosts, ports from the flow's number.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::legs::Legs;
use super::recent::Recent;
use super::{Carried, Conversation, Wire};
use crate::endpoint::Datagrams;
use crate::packet::checksum::{checksum, checksum_of};
use crate::packet::{Direction, Header, Packet, headers};

const IP: usize = headers::IP as usize;
const TTL: u8 = 64;
/// Where a header of IPv4 has the number of the protocol after it.
const PROTOCOL: usize = 9;
const DO_NOT_FRAGMENT: u8 = 0x40;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// Port of the receiver of flow 0, that of live runs; the next flows have the next ones.
const RECEIVERS: u32 = 10_000;
/// Ports that receivers share: a thousand flows have the same ports of senders.
const SHARED: u32 = 1_000;
/// Port of the senders of the first of them.
const SENDERS: u32 = 40_000;
const MOST_SENDERS: u32 = 25_000;

/// Address of the host with this number.
pub fn address(host: u16) -> [u8; 4] {
    let [high, low] = (host.wrapping_add(1)).to_be_bytes();
    [10, 0, high, low]
}

/// Ports of a packet of this flow, its sender's first.
fn ports(flow: u32, direction: Direction) -> [u16; 2] {
    let sender = (SENDERS + flow / SHARED % MOST_SENDERS) as u16;
    let receiver = (RECEIVERS + flow % SHARED) as u16;
    match direction {
        Direction::Forward => [sender, receiver],
        Direction::Backward => [receiver, sender],
    }
}

/// Writes the headers of simulated packets.
#[derive(Debug, Default)]
pub struct Headers {
    recent: Recent,
    known: Known,
}

/// What headers are made from, besides the packet.
#[derive(Debug, Default)]
struct Known {
    connections: BTreeMap<u32, Legs>,
    carried: BTreeMap<u32, Carried>,
    between_nodes: Option<Arc<dyn Datagrams>>,
}

impl Wire for Headers {
    fn open(&mut self, flow: u32, ends: Conversation) {
        self.recent.begin();
        self.known.connections.insert(flow, Legs::new(ends));
    }

    fn carry(&mut self, flow: u32, carried: Carried) {
        self.recent.begin();
        self.known.carried.insert(flow, carried);
    }

    fn carry_between_nodes(&mut self, carried: Arc<dyn Datagrams>) {
        self.recent.begin();
        self.known.between_nodes = Some(carried);
    }

    fn close(&mut self, flow: u32) {
        self.known.connections.remove(&flow);
        self.known.carried.remove(&flow);
    }

    fn bytes(&mut self, packet: &Packet, snap: usize) -> Option<&[u8]> {
        let Headers { recent, known } = self;
        recent.bytes(packet, snap, |bytes| {
            let size = packet.size as usize;
            let written = known.put(packet, bytes) && (bytes.len()..=0xffff).contains(&size);
            if written {
                let protocol = bytes[PROTOCOL];
                seal(bytes, size, (protocol, IP));
                bytes.resize(size.min(snap), 0);
            }
            written
        })
    }
}

impl Known {
    /// Where the datagram that a packet carries is, if its header does not tell it.
    fn carried_by(&self, packet: &Packet) -> Option<&Arc<dyn Datagrams>> {
        if !matches!(packet.header, Header::Opaque(_)) {
            return None;
        }
        match self.carried.get(&packet.flow) {
            Some(ends) => ends[packet.direction() as usize].as_ref(),
            None => self.between_nodes.as_ref(),
        }
    }

    /// Appends all headers of a packet, with the transport's checksum zero; returns whether it could.
    fn put(&mut self, packet: &Packet, out: &mut Vec<u8>) -> bool {
        let ports = ports(packet.flow, packet.direction());
        let tuple = [packet.tuple.source, packet.tuple.destination];
        match (&packet.header, self.connections.get_mut(&packet.flow)) {
            (Header::Segment(segment), Some(legs)) => {
                put_ip(packet, TCP, hosts(legs.ends(), packet.direction()), out);
                legs.of_segment(packet).put_segment((packet, segment), ports, out);
            }
            (Header::Ack(ack), Some(legs)) => {
                put_ip(packet, TCP, hosts(legs.ends(), packet.direction()), out);
                legs.of_ack(packet).put_ack((packet, ack), ports, out);
            }
            (Header::Datagram(_) | Header::Opaque(_), _) => {
                put_ip(packet, UDP, tuple, out);
                put_udp(packet, ports, out);
            }
            _ => return false,
        }
        if let Some(carried) = self.carried_by(packet) {
            carried.write(packet, out); // zeros stand for what it does not know any more
        }
        true
    }
}

/// The hosts between which packets of a connection go in this direction: a proxy has the address of the
/// host that it stands for.
fn hosts(ends: &Conversation, direction: Direction) -> [u16; 2] {
    let [sender, receiver] = ends.hosts;
    match direction {
        Direction::Forward => [sender, receiver],
        Direction::Backward => [receiver, sender],
    }
}

fn put_ip(packet: &Packet, protocol: u8, hosts: [u16; 2], out: &mut Vec<u8>) {
    let mut ip = [0; IP];
    ip[..2].copy_from_slice(&[0x45, packet.dscp().number() << 2 | packet.ecn.codepoint()]);
    ip[2..4].copy_from_slice(&(packet.size as u16).to_be_bytes());
    ip[4..6].copy_from_slice(&(packet.index as u16).to_be_bytes());
    ip[6..10].copy_from_slice(&[DO_NOT_FRAGMENT, 0, TTL, protocol]);
    ip[12..].copy_from_slice(hosts.map(address).as_flattened());
    let sum = checksum(&ip);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    out.extend_from_slice(&ip);
}

fn put_udp(packet: &Packet, ports: [u16; 2], out: &mut Vec<u8>) {
    out.extend_from_slice(ports.map(u16::to_be_bytes).as_flattened());
    out.extend((packet.size.saturating_sub(headers::IP) as u16).to_be_bytes());
    out.extend([0; 2]);
}

/// Writes the transport's checksum into the headers of an IP packet of `size` bytes, in place of any
/// that is there: of a transport with this protocol number, after so many bytes. What follows is zero,
/// and adds nothing to the checksum.
///
/// # Panics
/// If these are not the whole headers of IPv4 or IPv6, and of UDP or TCP.
pub fn seal(bytes: &mut [u8], size: usize, (protocol, at): (u8, usize)) {
    let (ip, transport) = bytes.split_at_mut(at);
    let is_udp = protocol == UDP;
    let place = if is_udp { 6 } else { 16 };
    transport[place..place + 2].fill(0);
    let addresses = if ip[0] >> 4 == 6 { 8..40 } else { 12..IP };
    let [high, low] = ((size - at) as u16).to_be_bytes();
    let sum = checksum_of([&ip[addresses], &[0, protocol, high, low], transport]);
    // In UDP zero stands for none.
    let sum = if is_udp && sum == 0 { 0xffff } else { sum };
    transport[place..place + 2].copy_from_slice(&sum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{
        Address, Datagram, Dscp, Ecn, FiveTuple, Flags, Route, SackBlock, TcpAck, TcpSegment,
    };
    use crate::spec::EcnMode;
    use crate::units::{Span, Time};

    const MSS: u32 = 1448;
    const SYN: Flags = Flags::SYN;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn headers(ecn: EcnMode) -> Headers {
        let mut headers = Headers::default();
        let hosts = [0, 300];
        headers.open(1_002, Conversation { mss: MSS, ecn, buffer: 0, both: false, hosts });
        headers
    }

    /// The bytes of a packet of flow 1,002 with this header, of which `snap` are kept.
    fn bytes(headers: &mut Headers, size: u32, header: Header, snap: usize) -> Vec<u8> {
        let back = matches!(header, Header::Ack(_));
        let direction = if back { Direction::Backward } else { Direction::Forward };
        let tuple = FiveTuple { source: 0, destination: 300, ports: 1_002 };
        let tuple = if back { tuple.reversed() } else { tuple };
        let (route, dscp) = (Route::default(), Dscp::BEST_EFFORT);
        let address = Address { flow: 1_002, direction, dscp, route, socket: 0, tuple };
        let packet = Packet { ecn: Ecn::Ect0, ..address.packet(0x1_0203, size, header) };
        headers.bytes(&packet, snap).unwrap().to_vec()
    }

    fn sent(headers: &mut Headers, segment: TcpSegment) -> Vec<u8> {
        let size = if segment.flags.has(SYN) { 60 } else { 52 };
        bytes(headers, size + u32::from(segment.payload), Header::Segment(segment), 1 << 16)
    }

    fn answered(headers: &mut Headers, ack: TcpAck) -> Vec<u8> {
        let size = match (ack.flags.has(SYN), ack.sacks().len() as u32) {
            (true, _) => 60,
            (false, 0) => 52,
            (false, blocks) => 56 + 8 * blocks,
        };
        bytes(headers, size, Header::Ack(ack), 1 << 16)
    }

    fn data(seq: u32, payload: u32) -> TcpSegment {
        let payload = payload as u16;
        let (sent_at, echo) = (at(9), at(7));
        TcpSegment { flags: Flags::ACK, seq, payload, sent_at, echo, ..TcpSegment::default() }
    }

    fn number(bytes: &[u8], at: usize) -> u32 {
        u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
    }

    /// Checks both checksums.
    fn holds(bytes: &[u8]) {
        assert_eq!(checksum(&bytes[..20]), 0);
        let length = ((bytes.len() - 20) as u16).to_be_bytes();
        let parts = [&bytes[12..20], &[0, bytes[9]], &length, &bytes[20..]];
        assert_eq!(checksum_of(parts), 0, "{bytes:?}");
    }

    /// A datagram.
    #[derive(Debug)]
    struct Content(&'static [u8]);

    impl Datagrams for Content {
        fn write(&self, _packet: &Packet, out: &mut Vec<u8>) -> bool {
            out.extend(self.0);
            true
        }
    }

    #[test]
    fn packets_have_the_datagrams_that_they_carry() {
        let mut headers = headers(EcnMode::Off);
        let sent = |headers: &mut Headers, snap| bytes(headers, 40, Header::opaque(3), snap);
        assert_eq!(sent(&mut headers, 96)[28..], [0; 12]);
        headers.carry_between_nodes(Arc::new(Content(b"from a node")));
        assert_eq!(&sent(&mut headers, 96)[28..], b"from a node\0");
        headers.carry(1_002, [Some(Arc::new(Content(b"of the flow"))), None]);
        let whole = sent(&mut headers, 96);
        assert_eq!(&whole[28..], b"of the flow\0");
        holds(&whole);
        assert_eq!(sent(&mut headers, 30), whole[..30]);
        headers.close(1_002);
        assert_eq!(&sent(&mut headers, 96)[28..], b"from a node\0");
    }

    #[test]
    fn a_syn_has_the_options_of_linux() {
        let syn = TcpSegment { flags: SYN, sent_at: at(4), ..TcpSegment::default() };
        let mut headers = headers(EcnMode::Off);
        let syn = sent(&mut headers, syn);
        holds(&syn);
        let ip =
            [0x45, 2, 0, 60, 2, 3, 0x40, 0, 64, 6, syn[10], syn[11], 10, 0, 0, 1, 10, 0, 1, 45];
        assert_eq!(syn[..20], ip);
        let tcp = [0x9c, 0x41, 0x27, 0x12, 0, 0, 0, 0, 0, 0, 0, 0, 0xa0, 2, 0xfa, 0xf0];
        assert_eq!(syn[20..36], tcp, "from 40001 to 10002");
        let options = [2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 5, 0, 0, 0, 0, 1, 3, 3, 7];
        assert_eq!(syn[40..], options);
        let flags = SYN.with(Flags::ACK, true);
        let (window, sent_at, echo) = (65_535, at(6), at(4));
        let ack = TcpAck { flags, next: 1, window, sent_at, echo, ..TcpAck::default() };
        let answer = answered(&mut headers, ack);
        holds(&answer);
        assert_eq!((number(&answer, 24), number(&answer, 28)), (0, 1));
        assert_eq!(answer[32..36], [0xa0, 0x12, 0xff, 0xff], "its window is not scaled");
        assert_eq!(answer[46..56], [8, 10, 0, 0, 0, 7, 0, 0, 0, 5]);
    }

    #[test]
    fn numbers_of_bytes_add_up() {
        let mut headers = headers(EcnMode::Off);
        let mut next = 1;
        for (segment, payload) in [(1, MSS), (2, MSS), (3, 100), (4, MSS)] {
            let bytes = sent(&mut headers, data(segment, payload));
            holds(&bytes);
            assert_eq!((bytes.len() as u32, number(&bytes, 24)), (52 + payload, next));
            assert_eq!(bytes[32..36], [0x80, 0x10, 1, 0xf6], "a window of 502");
            assert_eq!(bytes[40..52], [1, 1, 8, 10, 0, 0, 0, 10, 0, 0, 0, 8]);
            assert!(bytes[52..].iter().all(|byte| *byte == 0));
            next += payload;
        }
        let again = sent(&mut headers, data(3, 100));
        assert_eq!(number(&again, 24), 1 + 2 * MSS, "a retransmission has its first number");
        let probe = TcpSegment { flags: Flags::ACK.with(Flags::PROBE, true), ..data(4, 0) };
        assert_eq!(number(&sent(&mut headers, probe), 24), 2 * MSS + 100);
        assert_eq!(number(&sent(&mut headers, data(0, 0)), 24), 1, "the handshake's last");
    }

    #[test]
    fn acknowledgments_name_bytes() {
        let mut headers = headers(EcnMode::Off);
        for (segment, payload) in [(1, MSS), (2, 10), (3, MSS), (4, MSS), (5, MSS)] {
            sent(&mut headers, data(segment, payload));
        }
        let mut ack = TcpAck { flags: Flags::ACK, next: 2, window: 1_000, ..TcpAck::default() };
        ack.set_sacks([(4, 6), (3, 4)].into_iter().map(|(start, end)| SackBlock { start, end }));
        let bytes = answered(&mut headers, ack);
        holds(&bytes);
        assert_eq!(number(&bytes, 28), 1 + MSS);
        assert_eq!(bytes[34..36], [0, 8], "a thousand bytes in units of 128");
        assert_eq!(bytes[52..56], [1, 1, 5, 18]);
        let third = 1 + MSS + 10;
        let edges = [56, 60, 64, 68].map(|at| number(&bytes, at));
        assert_eq!(edges, [third + MSS, third + 3 * MSS, third, third + MSS]);
    }

    #[test]
    fn marks_are_echoed_as_the_mode_has_it() {
        let bits = |ecn, flags: Flags, ce_packets| {
            let ack = TcpAck { flags, next: 1, ce_packets, ..TcpAck::default() };
            let bytes = answered(&mut headers(ecn), ack);
            (bytes[32] & 1, bytes[33] & 0xc0)
        };
        let (ack, ece) = (Flags::ACK, Flags::ACK.with(Flags::ECE, true));
        assert_eq!(bits(EcnMode::Classic, ece, 1), (0, 0x40));
        assert_eq!(bits(EcnMode::Sce, Flags::ACK.with(Flags::ESCE, true), 0), (1, 0));
        let counted = [0, 1, 2, 3].map(|count| bits(EcnMode::Accurate, ack, count));
        assert_eq!(counted, [(1, 0x40), (1, 0x80), (1, 0xc0), (0, 0)]);
        let opening = |ecn| {
            let syn = TcpSegment { flags: SYN, ..TcpSegment::default() };
            let bytes = sent(&mut headers(ecn), syn);
            (bytes[32] & 1, bytes[33] & 0xc0, bits(ecn, SYN.with(Flags::ACK, true), 0))
        };
        assert_eq!(opening(EcnMode::Off), (0, 0, (0, 0)));
        assert_eq!(opening(EcnMode::Classic), (0, 0xc0, (0, 0x40)));
        assert_eq!(opening(EcnMode::L4s), (1, 0xc0, (0, 0x80)));
        let reduced = TcpSegment { flags: ack.with(Flags::CWR, true), ..data(1, 1) };
        assert_eq!(sent(&mut headers(EcnMode::Classic), reduced)[33] & 0xc0, 0x80);
    }

    /// The sender's host sends two segments, of which a proxy makes three for the receiver's.
    #[test]
    fn a_proxy_has_connections_of_its_own() {
        let mut headers = headers(EcnMode::Off);
        let mut numbers = |direction: Direction, route, header, size| {
            let way = direction.into();
            let packet = Packet { flow: 1_002, way, route, header, size, ..Packet::default() };
            let out = headers.bytes(&packet, 1 << 16).unwrap();
            let hosts = [[10_u8, 0, 0, 1], [10, 0, 1, 45]];
            let [from, to] = match direction {
                Direction::Forward => hosts,
                Direction::Backward => [hosts[1], hosts[0]],
            };
            assert_eq!(out[12..20], *[from, to].as_flattened());
            [number(out, 24), number(out, 28)]
        };
        let (there, back) = (Direction::Forward, Direction::Backward);
        let (host, proxy) = (Route::at(7), Route::default());
        let segment = |seq, payload| Header::Segment(data(seq, payload));
        let ack = |next| Header::Ack(TcpAck { flags: Flags::ACK, next, ..TcpAck::default() });
        assert_eq!(numbers(there, host, segment(1, MSS), 1500), [1, 1]);
        assert_eq!(numbers(there, host, segment(2, MSS), 1500), [1 + MSS, 1]);
        assert_eq!(numbers(back, proxy, ack(3), 52), [1, 1 + 2 * MSS]);
        for (seq, payload) in [(1, 1280), (2, 1280), (3, 336)] {
            let first = 1 + 1280 * (seq - 1);
            assert_eq!(numbers(there, proxy, segment(seq, payload), 52 + payload), [first, 1]);
        }
        assert_eq!(numbers(back, host, ack(3), 52), [1, 2561]);
        assert_eq!(numbers(back, host, ack(4), 52), [1, 1 + 2 * MSS]);
        assert_eq!(numbers(back, proxy, ack(2), 52), [1, 1 + MSS]);
    }

    /// The receiver asks, the sender answers, and a link sees a packet again when both have gone on.
    #[test]
    fn where_both_ends_send_their_numbers_go_together() {
        let mut headers = Headers::default();
        let (ecn, hosts) = (EcnMode::Off, [0, 0]);
        headers.open(0, Conversation { mss: MSS, ecn, buffer: 0, both: true, hosts });
        let mut numbers = |direction: Direction, index, header: Header, size| {
            let packet = Packet { way: direction.into(), index, header, size, ..Packet::default() };
            let out = headers.bytes(&packet, 1 << 16).unwrap();
            holds(out);
            (number(out, 24), number(out, 28), out[34..36].to_vec())
        };
        let (there, back) = (Direction::Forward, Direction::Backward);
        let segment = |seq, payload| Header::Segment(data(seq, payload));
        let ack =
            |flags, next, window| Header::Ack(TcpAck { flags, next, window, ..TcpAck::default() });
        let syn = Header::Segment(TcpSegment { flags: SYN, ..TcpSegment::default() });
        let first = vec![0xfa, 0xf0];
        let scaled = vec![1, 0xf6];
        assert_eq!(numbers(back, 0, syn, 60), (0, 0, first.clone()));
        let opened = ack(SYN.with(Flags::ACK, true), 1, 64_240);
        assert_eq!(numbers(there, 0, opened, 60), (0, 1, first));
        assert_eq!(numbers(back, 1, segment(0, 0), 52), (1, 1, scaled.clone()));
        assert_eq!(numbers(back, 2, segment(1, 500), 552), (1, 1, scaled.clone()));
        let asked = ack(Flags::ACK, 2, 1_280);
        assert_eq!(numbers(there, 1, asked, 52), (1, 501, vec![0, 10]));
        assert_eq!(numbers(there, 2, segment(1, MSS), 1500), (1, 501, vec![0, 10]));
        let answered = ack(Flags::ACK, 2, 2_560);
        assert_eq!(numbers(back, 3, answered, 52), (501, 1 + MSS, vec![0, 20]));
        assert_eq!(numbers(back, 4, segment(2, 100), 152), (501, 1 + MSS, vec![0, 20]));
        assert_eq!(numbers(there, 3, segment(2, MSS), 1500), (1 + MSS, 501, vec![0, 10]));
        // Again, at the far end of a link.
        assert_eq!(numbers(there, 1, asked, 52), (1, 501, vec![0, 10]));
        assert_eq!(numbers(back, 2, segment(1, 500), 552), (1, 1, scaled));
    }

    #[test]
    fn as_much_is_kept_as_is_asked_for() {
        let mut headers = headers(EcnMode::Off);
        let header = Header::Segment(data(1, MSS));
        assert_eq!(bytes(&mut headers, 1500, header, 96).len(), 96);
        let whole = bytes(&mut headers, 1500, header, 1 << 16);
        holds(&whole);
        assert_eq!(bytes(&mut headers, 1500, header, 30), whole[..30]);
        let datagram = Header::Datagram(Datagram { payload: 101, ..Datagram::default() });
        let whole = bytes(&mut headers, 129, datagram, 1 << 16);
        holds(&whole);
        assert_eq!(whole[20..26], [0x9c, 0x41, 0x27, 0x12, 0, 109]);
    }

    #[test]
    fn a_packet_of_an_unknown_connection_is_not_written() {
        let mut headers = headers(EcnMode::Off);
        headers.close(1_002);
        let packet = Packet { flow: 1_002, size: 1500, ..Packet::default() };
        let segment = Packet { header: Header::Segment(data(1, MSS)), ..packet };
        assert_eq!(headers.bytes(&segment, 96), None);
        assert_eq!(headers.bytes(&Packet { size: 27, ..packet }, 96), None, "too small");
        assert!(headers.bytes(&packet, 96).is_some());
    }
}
