//! A packet's own header and its transport's.
//!
//! | bytes | content |
//! | ---: | --- |
//! | 1 | DiffServ codepoint and ECN field, as IP's traffic class |
//! | 1 | kind of the transport's header; its highest bit is the direction |
//! | 4, 4 | flow, index |
//! | | segment: payload 2, flags 2, number 4, times sent 4, echoed 4, written 4 |
//! | | ACK: flags 2, SACK blocks 1, next 4, window 4, CE 4, times sent 4, echoed 4; 8 for a block |
//! | | datagram: payload 2, number 4, time written 4 |
//! | | report: share missing 2, next 4 |

use sojourn_base::packet::{
    Datagram, Direction, Dscp, Ecn, FiveTuple, Flags, Header, MAX_SACK_BLOCKS, Opaque, Packet,
    SackBlock, TcpAck, TcpSegment, Way,
};

use super::bytes::{Reader, of_time};

/// Kinds of headers.
const SEGMENT: u8 = 0;
const ACK: u8 = 1;
const DATAGRAM: u8 = 2;
const OPAQUE: u8 = 3;
/// Set if the packet goes from the flow's receiver to its sender.
const BACKWARD: u8 = 1 << 7;

/// Appends a packet's headers; nothing of one whose transport has no bytes here.
pub(super) fn put(packet: &Packet, out: &mut Vec<u8>) {
    let kind = match packet.header {
        Header::Segment(_) => SEGMENT,
        Header::Ack(_) => ACK,
        Header::Datagram(_) => DATAGRAM,
        _ => OPAQUE,
    };
    let backward = if packet.direction() == Direction::Backward { BACKWARD } else { 0 };
    out.push(packet.dscp().number() << 2 | packet.ecn.codepoint());
    out.push(kind | backward);
    out.extend(packet.flow.to_be_bytes());
    out.extend(packet.index.to_be_bytes());
    match &packet.header {
        Header::Segment(segment) => put_segment(segment, out),
        Header::Ack(ack) => put_ack(ack, out),
        Header::Datagram(datagram) => {
            out.extend(datagram.payload.to_be_bytes());
            out.extend(datagram.seq.to_be_bytes());
            out.extend(of_time(datagram.written_at));
        }
        Header::Opaque(opaque) => {
            out.extend(opaque.payload.to_be_bytes());
            out.extend(opaque.handle.to_be_bytes());
        }
        _ => {}
    }
}

fn put_segment(segment: &TcpSegment, out: &mut Vec<u8>) {
    out.extend(segment.payload.to_be_bytes());
    out.extend(segment.flags.0.to_be_bytes());
    out.extend(segment.seq.to_be_bytes());
    for at in [segment.sent_at, segment.echo, segment.written_at] {
        out.extend(of_time(at));
    }
}

fn put_ack(ack: &TcpAck, out: &mut Vec<u8>) {
    out.extend(ack.flags.0.to_be_bytes());
    out.push(ack.sack_count as u8);
    for number in [ack.next, ack.window, ack.ce_packets] {
        out.extend(number.to_be_bytes());
    }
    for at in [ack.sent_at, ack.echo] {
        out.extend(of_time(at));
    }
    for block in ack.sacks() {
        out.extend(block.start.to_be_bytes());
        out.extend(block.end.to_be_bytes());
    }
}

/// Reads a packet's headers; its size is that of the message.
pub(super) fn packet(reader: &mut Reader<'_>) -> Option<Packet> {
    let [class, kind] = reader.next()?;
    let (flow, index) = (reader.u32()?, reader.u32()?);
    let forward = kind & BACKWARD == 0;
    let direction = if forward { Direction::Forward } else { Direction::Backward };
    let header = match kind & !BACKWARD {
        SEGMENT => Header::Segment(segment(reader)?),
        ACK => Header::Ack(ack(reader)?),
        DATAGRAM => Header::Datagram(datagram(reader)?),
        OPAQUE => Header::Opaque(Opaque { payload: reader.u16()?, handle: reader.u32()? }),
        _ => return None,
    };
    Some(Packet {
        flow,
        index,
        way: Way::new(direction, Dscp::of_class(class)),
        // A flow's sender and its receiver have two sockets that follow each other.
        socket: flow.wrapping_mul(2).wrapping_add(forward.into()),
        tuple: FiveTuple::of_flow(flow),
        ecn: ecn(class),
        header,
        ..Packet::default()
    })
}

fn ecn(class: u8) -> Ecn {
    let all = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
    all[usize::from(class & 3)]
}

fn segment(reader: &mut Reader<'_>) -> Option<TcpSegment> {
    Some(TcpSegment {
        payload: reader.u16()?,
        flags: Flags(reader.u16()?),
        seq: reader.u32()?,
        sent_at: reader.time()?,
        echo: reader.time()?,
        written_at: reader.time()?,
    })
}

fn ack(reader: &mut Reader<'_>) -> Option<TcpAck> {
    let (flags, count) = (Flags(reader.u16()?), usize::from(reader.u8()?));
    let mut ack = TcpAck {
        flags,
        next: reader.u32()?,
        window: reader.u32()?,
        ce_packets: reader.u32()?,
        sent_at: reader.time()?,
        echo: reader.time()?,
        ..TcpAck::default()
    };
    let mut sack = [SackBlock::default(); MAX_SACK_BLOCKS];
    for block in sack.get_mut(..count)? {
        *block = SackBlock { start: reader.u32()?, end: reader.u32()? };
    }
    ack.set_sacks(sack.into_iter().take(count));
    Some(ack)
}

fn datagram(reader: &mut Reader<'_>) -> Option<Datagram> {
    let (payload, seq) = (reader.u16()?, reader.u32()?);
    Some(Datagram { payload, seq, written_at: reader.time()? })
}
