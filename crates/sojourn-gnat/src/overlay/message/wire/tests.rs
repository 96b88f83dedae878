//! Laws of the codec: what is written is read again, in the bytes that the simulator counts, and
//! whatever arrives is a message of its length or nothing.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::*;
use crate::ServiceSpec;
use crate::overlay::config::{FlowTransport, GroupOfApplications, OverlayConfig, OverlayFlow};
use crate::overlay::message::{Carried, Copies, Delay, Depths, LinkState, Parcel};
use crate::overlay::numbers::{FIRST_APPLICATION, SERIALS, opener};
use sojourn_base::packet::{
    Datagram, Direction, Ecn, FiveTuple, Flags, Header, Opaque, Packet, SackBlock, TcpAck,
    TcpSegment, Way,
};
use sojourn_base::units::{Span, Time};
use sojourn_net::multicast::{Groups, Receiver, Stream};

fn encoded(cargo: &Cargo) -> Vec<u8> {
    let mut bytes = vec![0xff];
    cargo.put(&mut bytes);
    assert_eq!(bytes[0], 0xff, "what stands before it stays");
    bytes.split_off(1)
}

fn round_trip(cargo: &Cargo) {
    let bytes = encoded(cargo);
    assert_eq!(bytes.len(), cargo.len());
    assert_eq!(format!("{:?}", Cargo::from(&bytes[..])), format!("{cargo:?}"));
}

fn time() -> impl Strategy<Value = Time> {
    any::<u32>().prop_map(|micros| Time::ZERO + Span::from_micros(micros.into()))
}

fn segment() -> impl Strategy<Value = (Header, u32)> {
    (any::<(u16, u32)>(), 0..1_400_u16, [time(), time(), time()]).prop_map(
        |((flags, seq), payload, [sent_at, echo, written_at])| {
            let flags = Flags(flags);
            let segment = TcpSegment { flags, payload, seq, sent_at, echo, written_at };
            (Header::Segment(segment), 52 + u32::from(payload))
        },
    )
}

fn ack() -> impl Strategy<Value = (Header, u32)> {
    let blocks = vec(any::<(u32, u32)>(), 0..=3);
    (any::<(u16, u32, u32, u32)>(), [time(), time()], blocks).prop_map(
        |((flags, next, window, ce_packets), [sent_at, echo], blocks)| {
            let flags = Flags(flags);
            let mut ack =
                TcpAck { flags, next, window, ce_packets, sent_at, echo, ..TcpAck::default() };
            ack.set_sacks(blocks.iter().map(|(start, end)| SackBlock { start: *start, end: *end }));
            let option = if blocks.is_empty() { 0 } else { 4 + 8 * blocks.len() as u32 };
            (Header::Ack(ack), 52 + option)
        },
    )
}

fn datagram() -> impl Strategy<Value = (Header, u32)> {
    (0..1_400_u16, any::<u32>(), time()).prop_map(|(payload, seq, written_at)| {
        let datagram = Datagram { payload, seq, written_at };
        (Header::Datagram(datagram), 28 + u32::from(payload))
    })
}

fn report() -> impl Strategy<Value = (Header, u32)> {
    any::<(u16, u32)>().prop_map(|(payload, handle)| {
        let size = crate::overlay::proxy::REPORT_SIZE;
        (Header::Opaque(Opaque { payload, handle }), size)
    })
}

/// A packet as it is where it is read, with this header and size.
fn packet(header: impl Strategy<Value = (Header, u32)>) -> impl Strategy<Value = Arc<Carried>> {
    let ecn = prop::sample::select(vec![Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce]);
    (header, any::<(u32, u32, u8, bool)>(), ecn).prop_map(
        |((header, size), (flow, index, class, forward), ecn)| {
            // Half of them are of an application.
            let flow = flow >> 1;
            let direction = if forward { Direction::Forward } else { Direction::Backward };
            let way = Way::new(direction, sojourn_base::packet::Dscp::of_class(class));
            let (socket, tuple) = (2 * flow + u32::from(forward), FiveTuple::of_flow(flow));
            let known = Packet { flow, index, way, socket, tuple, ..Packet::default() };
            Arc::new(carried(Packet { size, ecn, header, ..known }))
        },
    )
}

/// A packet with an application's bytes, if it is of one and has any.
fn carried(packet: Packet) -> Carried {
    let payload = match packet.header {
        Header::Segment(segment) if opener(packet.flow).is_some() => segment.payload,
        _ => 0,
    };
    let bytes = (0..payload).map(|byte| (byte ^ packet.index as u16) as u8).collect();
    Carried { packet, bytes: (payload > 0).then_some(bytes) }
}

/// An application's IP packet.
fn ip() -> impl Strategy<Value = Arc<Carried>> {
    vec(any::<u8>(), 20..1_400).prop_map(|bytes| Arc::new(Carried::datagram(bytes.into())))
}

fn parcel() -> impl Strategy<Value = Cargo> {
    let header = prop_oneof![segment(), ack(), datagram(), report()];
    let packet = prop_oneof![3 => packet(header).boxed(), 1 => ip().boxed()];
    (packet, 0..64_u16, option::of((time(), any::<u64>()))).prop_map(|(packet, to, timed)| {
        let (due, seen) = timed.map_or((None, 0), |(due, seen)| (Some(due), seen));
        Cargo::Parcel(Parcel { size: packet.size, packet, to, due, seen })
    })
}

fn copies() -> impl Strategy<Value = Cargo> {
    (prop_oneof![packet(datagram()).boxed(), ip().boxed()], any::<(u16, u64)>())
        .prop_map(|(packet, (stream, to))| Cargo::Copies(Copies::new(packet, stream, to)))
}

/// Depths of some places; none behind the last that is told.
fn some<T: Clone + Default + std::fmt::Debug>(
    depth: impl Strategy<Value = T>,
) -> impl Strategy<Value = Vec<T>> {
    vec(option::of(depth), 0..64).prop_map(|all| {
        let last = all.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        all.into_iter().take(last).map(Option::unwrap_or_default).collect()
    })
}

fn depths() -> impl Strategy<Value = Cargo> {
    let pair = (1..=u32::MAX, any::<u32>()).prop_map(|(all, timed)| [all, timed].map(f64::from));
    let group = some((1..=u32::MAX).prop_map(f64::from)).boxed();
    let groups = some(group.prop_filter("it is told", |group| !group.is_empty()));
    (any::<u32>(), some(pair), groups).prop_map(|(number, bytes, groups)| {
        Cargo::Depths(Depths::new(number, bytes, Arc::new(groups)).into())
    })
}

fn link_state() -> impl Strategy<Value = Cargo> {
    let delay = [0.0..7.0, 0.0..7.0].prop_map(|[mean, deviation]: [f64; 2]| {
        Delay { mean, variance: deviation * deviation }.advertised()
    });
    (0..64_u16, any::<u32>(), vec((0..64_u16, delay), 0..64)).prop_map(|(origin, number, links)| {
        Cargo::LinkState(LinkState { origin, number, links }.into())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_written_is_read(
        each in [parcel().boxed(), copies().boxed(), depths().boxed(), link_state().boxed()],
        zombie in 20..2_000_u32,
    ) {
        each.iter().for_each(round_trip);
        round_trip(&Cargo::Zombie(zombie));
    }

    #[test]
    fn whatever_arrives_is_a_message_of_its_length_or_nothing(
        kind in 0..=COPIES_IP + 1,
        rest in vec(any::<u8>(), 0..200),
    ) {
        let bytes = [&[kind], &rest[..]].concat();
        let cargo = Cargo::from(&bytes[..]);
        if !matches!(cargo, Cargo::Nothing) {
            prop_assert_eq!(cargo.len(), bytes.len());
            let again = Cargo::from(&encoded(&cargo)[..]);
            prop_assert_eq!(format!("{:?}", again), format!("{:?}", cargo));
        }
    }

    #[test]
    fn a_message_that_is_cut_is_nothing_or_shorter(
        each in [parcel().boxed(), copies().boxed(), depths().boxed(), link_state().boxed()],
        at in any::<prop::sample::Index>(),
    ) {
        for cargo in each {
            let bytes = encoded(&cargo);
            let cut = at.index(bytes.len());
            prop_assert!(Cargo::from(&bytes[..cut]).len() <= cut);
        }
    }
}

#[test]
fn what_has_no_bytes_is_nothing_of_its_length() {
    let sources: Arc<[_]> = [(1, Cargo::Zombie(40))].into();
    let header = Header::Segment(TcpSegment::default());
    let small = Packet { size: 20, header, ..Packet::default() };
    let small = Cargo::Parcel(Parcel::new(small, 0, None));
    for cargo in [Cargo::Nothing, Cargo::Coded(100, sources), small] {
        let bytes = encoded(&cargo);
        assert_eq!(bytes, vec![0; cargo.len()]);
        assert!(matches!(Cargo::from(&bytes[..]), Cargo::Nothing));
    }
}

/// Fractions of a byte are told as whole bytes, since what is told is not zero.
#[test]
fn depths_are_told_in_whole_bytes() {
    let groups = Arc::new(vec![vec![0.0, 1e12]]);
    let told = Cargo::Depths(Depths::new(1, vec![[0.2, 0.0], [0.0; 2], [7.5, 1.0]], groups).into());
    let bytes = encoded(&told);
    let Cargo::Depths(read) = Cargo::from(&bytes[..]) else { panic!("{bytes:?}") };
    assert_eq!(read.bytes, [[1.0, 0.0], [0.0; 2], [8.0, 1.0]]);
    assert_eq!(*read.groups, [[0.0, f64::from(u32::MAX)]]);
}

/// Three members; flow 0 of datagrams and flow 1 of TCP from the first to the second, and a stream that
/// flow 2 sends to the third.
fn overlay() -> OverlayConfig {
    let receiver = Receiver { flow: 2, member: 2, start: Time::ZERO, stop: Time::NEVER };
    let known = Groups {
        members: vec![0, 1, 2],
        streams: vec![Stream { group: 0, receivers: vec![receiver] }],
        groups: vec!["g".to_owned()],
        ..Groups::default()
    };
    let transports =
        [FlowTransport::Udp, FlowTransport::Tcp { mss: 1_000 }, FlowTransport::Stream { index: 0 }];
    let flows = transports.into_iter().zip(0..).map(|(transport, flow)| {
        let service = ServiceSpec::default();
        OverlayFlow { flow, ends: [0, 1], service, transport, start: Time::ZERO }
    });
    OverlayConfig::new(known, flows.collect())
}

fn bounds() -> Bounds {
    Bounds::new(Arc::new(overlay()))
}

fn to(to: u16, flow: u32, header: Header) -> Parcel {
    Parcel::new(Packet { flow, size: 100, header, ..Packet::default() }, to, None)
}

#[test]
fn packets_are_allowed_where_their_flow_takes_them() {
    let bounds = bounds();
    let datagram = Header::Datagram(Datagram::default());
    let segment = Header::Segment(TcpSegment::default());
    let ack = Header::Ack(TcpAck::default());
    let report = |payload| Header::Opaque(Opaque { payload, handle: 1 });
    let allows = |place, flow, header| bounds.allows(&Cargo::Parcel(to(place, flow, header)));
    assert!(allows(1, 0, datagram) && allows(0, 0, report(100)));
    assert!(allows(1, 1, segment) && allows(0, 1, ack));
    assert!(!allows(0, 0, datagram) && !allows(3, 0, datagram), "another end");
    assert!(!allows(1, 3, datagram) && !allows(1, u32::MAX, datagram), "no such flow");
    assert!(!allows(1, 0, segment) && !allows(1, 1, datagram) && !allows(1, 2, datagram));
    assert!(!allows(0, 0, report(101)), "more than all");
    let seen = Parcel { due: Some(Time::ZERO), seen: 1 << 3, ..to(1, 0, datagram) };
    assert!(!bounds.allows(&Cargo::Parcel(seen)), "a fourth member");
    let copies = |flow, stream, set| {
        let packet = to(0, flow, datagram).packet;
        bounds.allows(&Cargo::Copies(Copies::new(packet, stream, set)))
    };
    assert!(copies(2, 0, 0b111) && !copies(2, 1, 0b111) && !copies(0, 0, 0b111));
    assert!(!copies(2, 0, 0b1000) && !copies(2, 0, u64::MAX));
}

#[test]
fn signals_are_allowed_about_members_and_groups_that_there_are() {
    let bounds = bounds();
    let depths = |members: usize, groups: Vec<Vec<f64>>| {
        let depths = Depths::new(1, vec![[1.0; 2]; members], Arc::new(groups));
        bounds.allows(&Cargo::Depths(depths.into()))
    };
    assert!(depths(3, vec![vec![1.0; 3]]) && depths(0, vec![]));
    assert!(!depths(4, vec![]) && !depths(3, vec![vec![1.0; 4]]) && !depths(3, vec![vec![]; 2]));
    let links = |origin, ends: &[u16]| {
        let links = ends.iter().map(|end| (*end, Delay::default())).collect();
        bounds.allows(&Cargo::LinkState(LinkState { origin, number: 1, links }.into()))
    };
    assert!(links(0, &[1, 2]) && links(2, &[]));
    assert!(!links(3, &[0]) && !links(0, &[3]) && !links(0, &[0]) && !links(0, &[1, 2, 1]));
    assert!(!bounds.allows(&Cargo::Coded(10, Arc::new([]))));
}

/// A packet of the seventh connection that a member has opened, between these members.
fn of_connection(opener: u32, [from, to]: [u32; 2], way: Direction, header: Header) -> Parcel {
    let packet = Packet {
        flow: FIRST_APPLICATION + opener * SERIALS + 7,
        index: from,
        way: Way::new(way, sojourn_base::packet::Dscp::of_class(0)),
        size: 1_000,
        header,
        ..Packet::default()
    };
    Parcel::new(packet, to as u16, None)
}

#[test]
fn packets_of_a_connection_are_allowed_between_its_ends() {
    let bounds = bounds().with_applications();
    let allows = |opener, ends, way, header| {
        bounds.allows(&Cargo::Parcel(of_connection(opener, ends, way, header)))
    };
    let (there, back) = (Direction::Forward, Direction::Backward);
    let ack = Header::Ack(TcpAck::default());
    assert!(allows(1, [1, 0], there, ack) && allows(1, [0, 1], back, ack));
    assert!(!allows(1, [0, 1], there, ack) && !allows(1, [1, 0], back, ack), "the other way");
    assert!(!allows(1, [0, 2], there, ack) && !allows(1, [2, 0], back, ack), "not the opener");
    assert!(!allows(1, [1, 1], there, ack) && !allows(1, [1, 3], there, ack), "nobody's");
    assert!(!allows(3, [3, 0], there, ack) && !allows(3, [0, 3], back, ack), "a fourth member");
    assert!(!allows(1, [0x1_0001, 0], there, ack), "an index that is no member's place");
    let signal = |payload| Header::Opaque(Opaque { payload, handle: 0 });
    assert!(allows(1, [1, 0], there, signal(0)) && allows(1, [0, 1], back, signal(1)));
    assert!(!allows(1, [1, 0], there, signal(2)), "no signal");
    assert!(!allows(1, [1, 0], there, Header::Datagram(Datagram::default())));
    let numberless = of_connection(1, [1, 0], there, ack);
    let packet = Packet { flow: FIRST_APPLICATION + SERIALS, ..numberless.packet.packet };
    assert!(!bounds.allows(&Cargo::Parcel(Parcel::new(packet, 0, None))), "no serial number");
    let timed = Parcel { due: Some(Time::ZERO), ..of_connection(1, [1, 0], there, ack) };
    assert!(!bounds.allows(&Cargo::Parcel(timed)), "a deadline");
    let seen = Parcel { seen: 1 << 3, ..of_connection(1, [1, 0], there, ack) };
    assert!(!bounds.allows(&Cargo::Parcel(seen)), "seen by a fourth member");
    let plain = of_connection(1, [1, 0], there, ack);
    assert!(!self::bounds().allows(&Cargo::Parcel(plain)), "where nobody has applications");
}

#[test]
fn segments_of_a_connection_have_the_bytes_that_they_say() {
    let bounds = bounds().with_applications();
    let allows = |flags, seq, payload, bytes: usize| {
        let segment = TcpSegment { flags, seq, payload, ..TcpSegment::default() };
        let parcel = of_connection(0, [0, 1], Direction::Forward, Header::Segment(segment));
        let bytes = (bytes > 0).then(|| vec![1; bytes].into());
        let carried = Carried { packet: parcel.packet.packet, bytes };
        bounds.allows(&Cargo::Parcel(Parcel::new(carried, 1, None)))
    };
    let none = Flags(0);
    assert!(allows(Flags::SYN, 0, 0, 0) && allows(none, 1, 900, 900));
    assert!(!allows(none, 1, 900, 899) && !allows(none, 1, 0, 1) && !allows(none, 1, 900, 0));
    assert!(!allows(Flags::SYN, 0, 900, 900), "bytes with a request");
    assert!(!allows(none, 1, 1_001, 1_001), "more than the packet's size");
    assert!(!allows(none, u32::MAX, 900, 900), "the last number");
}

#[test]
fn datagrams_of_applications_are_allowed_to_members_and_to_their_streams() {
    let group = GroupOfApplications { address: 0xef01_0101, receivers: vec![1, 2] };
    let without = Bounds::new(Arc::new(overlay().with_application_groups(&[group])));
    let bounds = without.clone().with_applications();
    let ip = || Carried::datagram(Arc::from([0; 20]));
    let parcel = |to| Cargo::Parcel(Parcel::new(ip(), to, None));
    assert!(bounds.allows(&parcel(2)) && !bounds.allows(&parcel(3)) && !without.allows(&parcel(2)));
    let copies = |stream, to| Cargo::Copies(Copies::new(ip().into(), stream, to));
    // One stream of the scenario, then one for each member.
    assert!(bounds.allows(&copies(1, 0b110)) && bounds.allows(&copies(3, 0b10)));
    assert!(!bounds.allows(&copies(0, 0b100)) && !bounds.allows(&copies(4, 0b110)));
    assert!(!bounds.allows(&copies(1, 0b1000)) && !without.allows(&copies(1, 0b110)));
    let simulated = to(0, 2, Header::Datagram(Datagram::default())).packet;
    assert!(!bounds.allows(&Cargo::Copies(Copies::new(simulated, 1, 0b110))), "without bytes");
}
