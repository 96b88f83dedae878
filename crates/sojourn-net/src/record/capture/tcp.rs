//! TCP headers, with the options that Linux sends in its order.

use super::Conversation;
use super::ledger::Ledger;
use crate::packet::{Flags, MAX_SACK_BLOCKS, Packet, TcpAck, TcpSegment};
use crate::spec::EcnMode;
use crate::units::Time;

const SYN: u16 = 0x002;
const PSH: u16 = 0x008;
const ACK: u16 = 0x010;
const ECE: u16 = 0x040;
const CWR: u16 = 0x080;
/// The former NS bit, which SCE's echo uses as well.
const AE: u16 = 0x100;

/// Bytes of a header with all options that there are, more than any has.
const LONGEST: usize = 44 + 8 * MAX_SACK_BLOCKS;
/// Bytes of the timestamp option, which the option of the largest segment does not count.
const TIMESTAMPS: u32 = 12;
/// First value of AccECN's counter.
const FIRST_COUNT: u32 = 5;
/// AccECN's three bits of an answer to a SYN, or to a SYN-ACK, that came unmarked.
const UNMARKED: u32 = 2;

/// What an end that has received no data announces: Linux's first window, and the scale of the
/// largest that Linux takes by default.
const FIRST_WINDOW: u16 = 64_240;
const USUAL_SCALE: u8 = 7;
/// The least that Linux scales windows for (`tcp_rmem[2]`), and the largest scale (RFC 7323).
const LEAST_BUFFER: u64 = 6 << 20;
const LARGEST_SCALE: u32 = 14;

/// The two ends of a connection.
#[derive(Debug)]
pub(super) struct Connection {
    ends: Conversation,
    /// Scale of the windows of an end that receives data.
    scale: u8,
    /// By the direction of the packets that it sends.
    halves: [Half; 2],
}

/// An end: what it sends, and what it has told of what it has received.
#[derive(Debug)]
struct Half {
    ledger: Ledger,
    told: Told,
    /// Where both ends send data, of each of its packets what its header has of the other way. A link's
    /// far end sees a packet when more has been told.
    passed: Vec<Told>,
}

/// What a header has of the way that the packet does not belong to.
#[derive(Clone, Copy, Debug)]
struct Told {
    /// Of a segment the number of the next byte expected, of an acknowledgment that of the next one
    /// sent.
    number: u32,
    window: u16,
    /// Marks received.
    marks: u32,
}

/// A header's fields.
struct Fields {
    seq: u32,
    ack: u32,
    flags: u16,
    window: u16,
    /// Timestamp and its echo.
    times: [u32; 2],
    /// Of a packet that opens the connection, the scale of its sender's windows.
    opens: Option<u8>,
    blocks: [[u32; 2]; MAX_SACK_BLOCKS],
    block_count: usize,
}

/// Milliseconds since the run began, counted from 1: 0 stands for no timestamp.
fn stamp(time: Time) -> u32 {
    (time.as_nanos() / 1_000_000 + 1) as u32
}

/// AccECN's counter in its three bits.
fn counter(count: u32) -> u16 {
    ((count & 7) as u16) << 6
}

impl Half {
    fn new(mss: u32, scale: u8) -> Self {
        let window = FIRST_WINDOW.div_ceil(1 << scale);
        let told = Told { number: 1, window, marks: 0 };
        Half { ledger: Ledger::new(mss), told, passed: Vec::new() }
    }

    /// What packet number `index` of this end tells, which is `now` if it has not passed before.
    fn of(&mut self, index: u32, now: Told) -> Told {
        let place = index as usize;
        if place >= self.passed.len() {
            self.passed.resize(place + 1, now);
        }
        self.passed[place]
    }
}

impl Connection {
    pub(super) fn new(ends: Conversation) -> Self {
        let scale = ends.buffer.max(LEAST_BUFFER).ilog2().saturating_sub(15).min(LARGEST_SCALE);
        let scale = scale as u8;
        let senders = if ends.both { scale } else { USUAL_SCALE };
        let halves = [Half::new(ends.mss, senders), Half::new(ends.mss, scale)];
        Connection { ends, scale, halves }
    }

    fn counts_marks(&self) -> bool {
        matches!(self.ends.ecn, EcnMode::Accurate | EcnMode::L4s)
    }

    /// Appends the header of a segment.
    pub(super) fn put_segment(
        &mut self,
        (packet, segment): (&Packet, &TcpSegment),
        ports: [u16; 2],
        out: &mut Vec<u8>,
    ) {
        let has = |flag| segment.flags.has(flag);
        let both = self.ends.both;
        let half = &mut self.halves[packet.direction() as usize];
        if segment.payload > 0 {
            half.ledger.note(segment.seq, segment.payload);
        }
        let told = if both { half.of(packet.index, half.told) } else { half.told };
        let opens = has(Flags::SYN);
        // The handshake's last acknowledgment has no number.
        let seq = if opens { 0 } else { half.ledger.byte(segment.seq.max(1)) };
        let flags = match opens {
            true => SYN,
            false => ACK | if has(Flags::PSH) { PSH } else { 0 },
        };
        let fields = Fields {
            seq: seq.wrapping_sub(has(Flags::PROBE).into()),
            ack: if opens { 0 } else { told.number },
            flags: flags | self.segments_ecn(segment, told.marks),
            window: if opens { FIRST_WINDOW } else { told.window },
            times: [stamp(segment.sent_at), if opens { 0 } else { stamp(segment.echo) }],
            opens: opens.then_some(if both { self.scale } else { USUAL_SCALE }),
            blocks: [[0; 2]; MAX_SACK_BLOCKS],
            block_count: 0,
        };
        self.put(&fields, ports, out);
    }

    fn segments_ecn(&self, segment: &TcpSegment, marks: u32) -> u16 {
        let answers = segment.seq == 0 && segment.payload == 0;
        match (segment.flags.has(Flags::SYN), self.ends.ecn) {
            (true, EcnMode::Off) => 0,
            (true, _) if self.counts_marks() => AE | CWR | ECE,
            (true, _) => CWR | ECE,
            (false, _) if self.counts_marks() => {
                counter(if answers { UNMARKED } else { marks.wrapping_add(FIRST_COUNT) })
            }
            (false, _) if segment.flags.has(Flags::CWR) => CWR,
            (false, _) => 0,
        }
    }

    /// Appends the header of an acknowledgment.
    pub(super) fn put_ack(
        &mut self,
        (packet, ack): (&Packet, &TcpAck),
        ports: [u16; 2],
        out: &mut Vec<u8>,
    ) {
        let opens = ack.flags.has(Flags::SYN);
        let other = &self.halves[1 - packet.direction() as usize].ledger;
        let number = other.byte(ack.next);
        let mut blocks = [[0; 2]; MAX_SACK_BLOCKS];
        for (block, sack) in blocks.iter_mut().zip(ack.sacks()) {
            *block = [sack.start, sack.end].map(|segment| other.byte(segment));
        }
        let announced = |scale: u8| ack.window.div_ceil(1 << scale).min(u16::MAX.into()) as u16;
        let half = &mut self.halves[packet.direction() as usize];
        let mut seq = half.ledger.byte(half.ledger.next());
        if self.ends.both {
            let is_new = packet.index as usize >= half.passed.len();
            seq = half.of(packet.index, Told { number: seq, ..half.told }).number;
            if is_new {
                half.told = Told { number, window: announced(self.scale), marks: ack.ce_packets };
            }
        }
        let fields = Fields {
            seq: if opens { 0 } else { seq },
            ack: number,
            flags: ACK | if opens { SYN } else { 0 } | self.acks_ecn(ack, opens),
            window: announced(if opens { 0 } else { self.scale }),
            times: [stamp(ack.sent_at), stamp(ack.echo)],
            opens: opens.then_some(self.scale),
            blocks,
            block_count: ack.sacks().len(),
        };
        self.put(&fields, ports, out);
    }

    fn acks_ecn(&self, ack: &TcpAck, opens: bool) -> u16 {
        match (opens, self.ends.ecn) {
            (_, EcnMode::Off) => 0,
            (true, _) if self.counts_marks() => counter(UNMARKED),
            (true, _) => ECE,
            (false, _) if self.counts_marks() => counter(ack.ce_packets.wrapping_add(FIRST_COUNT)),
            (false, _) => {
                let bit = |flag, bit| if ack.flags.has(flag) { bit } else { 0 };
                bit(Flags::ECE, ECE) | bit(Flags::ESCE, AE)
            }
        }
    }

    /// Appends a header, whose checksum is zero.
    fn put(&self, fields: &Fields, ports: [u16; 2], out: &mut Vec<u8>) {
        let mut header = [0; LONGEST];
        let numbers = [fields.seq, fields.ack].map(u32::to_be_bytes);
        let times = fields.times.map(u32::to_be_bytes);
        header[..4].copy_from_slice(ports.map(u16::to_be_bytes).as_flattened());
        header[4..12].copy_from_slice(numbers.as_flattened());
        header[12..14].copy_from_slice(&fields.flags.to_be_bytes());
        header[14..16].copy_from_slice(&fields.window.to_be_bytes());
        let mut length = if let Some(scale) = fields.opens {
            let largest = (self.ends.mss + TIMESTAMPS).min(u16::MAX.into()) as u16;
            header[20..22].copy_from_slice(&[2, 4]);
            header[22..24].copy_from_slice(&largest.to_be_bytes());
            header[24..28].copy_from_slice(&[4, 2, 8, 10]);
            header[28..36].copy_from_slice(times.as_flattened());
            header[36..40].copy_from_slice(&[1, 3, 3, scale]);
            40
        } else {
            header[20..24].copy_from_slice(&[1, 1, 8, 10]);
            header[24..32].copy_from_slice(times.as_flattened());
            32
        };
        let blocks = &fields.blocks[..fields.block_count];
        if !blocks.is_empty() {
            header[length..length + 4].copy_from_slice(&[1, 1, 5, 2 + 8 * blocks.len() as u8]);
            length += 4;
            for edge in blocks.iter().flatten() {
                header[length..length + 4].copy_from_slice(&edge.to_be_bytes());
                length += 4;
            }
        }
        header[12] |= ((length / 4) as u8) << 4;
        out.extend_from_slice(&header[..length]);
    }
}
