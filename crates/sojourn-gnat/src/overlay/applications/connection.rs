//! One end of a connection between the nodes of two applications.

use super::Event;
use super::bytes::{Arriving, Sending};
use super::records::{Broken, Piece, Records};
use super::shared::{Applications, Inner};
use crate::overlay::admission::Admission;
use crate::overlay::message::{Carried, Parcel};
use crate::overlay::proxy::{BETWEEN, Gate, MSS, duplex};
use crate::{ServiceSpec, Utility};
use sojourn_base::endpoint::Endpoint;
use sojourn_base::packet::{Direction, Header, Opaque, Packet, TcpSegment, Way};
use sojourn_base::units::{Span, Time};
use sojourn_tcp::tcp::Duplex;

/// After so long a silence an end says that it is alive.
const SILENCE: Span = Span::from_secs(10);
/// An end that hears nothing for this long gives the connection up.
const DEAF: Span = Span::from_secs(30);
/// How long an end stays whose stream has ended in both directions: its last acknowledgment may be lost.
const LINGER: Span = Span::from_secs(10);
/// Unread bytes beyond which the other end does not heed the window.
const MOST_UNREAD: u64 = 2 * BETWEEN + (64 << 10);

/// Bytes of a packet that only says one of these.
const SIGNAL: u32 = 40;
/// The connection is no more.
pub(super) const RESET: u16 = 0;
/// The connection is.
pub(super) const ALIVE: u16 = 1;

/// A packet of a connection's flow from a member that says something, to another one.
pub(super) fn signal(flow: u32, [from, to]: [u16; 2], direction: Direction, what: u16) -> Parcel {
    let header = Header::Opaque(Opaque { payload: what, handle: 0 });
    let way = Way::new(direction, Default::default());
    let packet =
        Packet { flow, index: from.into(), way, size: SIGNAL, header, ..Packet::default() };
    Parcel::new(packet, to, None)
}

/// The admission of a connection's bytes; their utility is the one that a byte stream can have.
fn gate(service: ServiceSpec, k: f64) -> Gate {
    let service = ServiceSpec { utility: Utility::Log, ..service };
    Gate::new(Admission::new(&service, k, 0.0))
}

/// How a connection goes on.
pub(super) enum Fate {
    /// It is looked at again then.
    Goes(Time),
    /// It has ended in order.
    Over,
    /// It is reset.
    Broken,
}

/// An end.
pub(super) struct Connection {
    flow: u32,
    me: u16,
    /// The member at the other end.
    pub peer: u16,
    asks: bool,
    /// Weighs utility against queues.
    k: f64,
    duplex: Duplex,
    gate: Gate,
    sending: Sending,
    arriving: Arriving,
    records: Records,
    heard_at: Time,
    said_at: Time,
    /// Both directions have ended; it goes then.
    goes_at: Option<Time>,
}

impl Connection {
    /// The end of a flow between this member and another one that asks, or that answers.
    pub(super) fn new(
        now: Time,
        flow: u32,
        [me, peer]: [u16; 2],
        asks: bool,
        service: ServiceSpec,
        k: f64,
    ) -> Self {
        let mut duplex = duplex(flow, now, asks);
        if asks {
            duplex.open(now);
        }
        Connection {
            flow,
            me,
            peer,
            asks,
            k,
            duplex,
            gate: gate(service, k),
            sending: Sending::new(),
            arriving: Arriving::new(),
            records: Records::new(!asks),
            heard_at: now,
            said_at: now,
            goes_at: None,
        }
    }

    /// Which way its packets go: those of the end that asks are forward.
    fn direction(&self) -> Direction {
        if self.asks { Direction::Forward } else { Direction::Backward }
    }

    /// A packet that says something to the other end.
    pub(super) fn signal(&self, what: u16) -> Parcel {
        signal(self.flow, [self.me, self.peer], self.direction(), what)
    }

    /// Whether the streams of both directions have ended.
    pub(super) fn is_over(&self) -> bool {
        self.goes_at.is_some()
    }

    /// A packet of the other end has come; to be followed by `pump`.
    pub(super) fn on_packet(
        &mut self,
        now: Time,
        packet: &Carried,
        shared: &Applications,
    ) -> Result<(), Broken> {
        self.heard_at = now;
        match &packet.header {
            Header::Segment(segment) => self.on_segment(now, packet, segment, shared),
            Header::Ack(ack) if self.sending.covers(ack) => {
                self.duplex.on_packet(now, packet);
                self.sending.acked(ack.next);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn on_segment(
        &mut self,
        now: Time,
        packet: &Carried,
        segment: &TcpSegment,
        shared: &Applications,
    ) -> Result<(), Broken> {
        let Some(bytes) = packet.bytes.as_ref().filter(|_| segment.payload > 0) else {
            self.duplex.on_packet(now, packet);
            return Ok(());
        };
        if !self.arriving.expects(segment.seq) || self.duplex.readable() > MOST_UNREAD {
            return Ok(());
        }
        self.duplex.on_packet(now, packet);
        self.arriving.hold(segment.seq, bytes);
        let mut inner = shared.inner();
        while let Some(bytes) = self.arriving.pop() {
            self.hand_over(&mut inner, &bytes, shared)?;
        }
        Ok(())
    }

    /// Bytes of the stream have come in order.
    fn hand_over(
        &mut self,
        inner: &mut Inner,
        mut bytes: &[u8],
        shared: &Applications,
    ) -> Result<(), Broken> {
        let flow = self.flow;
        let Inner { pipes, events, counts, .. } = inner;
        let Some(pipe) = pipes.get_mut(&flow) else { return Err(Broken) };
        let mut skipped = bytes.len();
        while let Some(piece) = self.records.next(&mut bytes)? {
            match piece {
                Piece::Opening(opening, class) => {
                    self.gate = gate(shared.service(class.into()), self.k);
                    counts.opened += 1;
                    events.push_back(Event::Opened { flow, opening });
                }
                Piece::Bytes(some) => {
                    skipped -= some.len();
                    if pipe.arrive(some) {
                        events.push_back(Event::Readable { flow });
                    }
                }
                Piece::End => pipe.end(),
            }
        }
        pipe.skip(skipped);
        if pipe.tells_end() {
            events.push_back(Event::Finished { flow });
        }
        Ok(())
    }

    /// Sends what there is to send; `depth` is that of the queue to the other end, in bits.
    pub(super) fn pump(
        &mut self,
        now: Time,
        depth: f64,
        shared: &Applications,
        out: &mut Vec<Parcel>,
    ) -> Fate {
        let Some((look, finished)) = self.admit(now, depth, &mut shared.inner()) else {
            return Fate::Broken;
        };
        if self.duplex.next_timeout().is_some_and(|at| at <= now) {
            self.duplex.on_timeout(now);
        }
        let before = out.len();
        while let Some(packet) = self.duplex.poll_transmit(now) {
            out.push(self.parcel(packet));
        }
        if finished && self.sending.is_empty() && self.records.ended() {
            self.goes_at.get_or_insert(now + LINGER);
        }
        if out.len() > before {
            self.said_at = now;
        } else if now >= self.said_at + SILENCE {
            self.said_at = now;
            out.push(self.signal(ALIVE));
        }
        match self.goes_at {
            Some(at) if now >= at => return Fate::Over,
            None if now >= self.heard_at + DEAF => return Fate::Broken,
            _ => {}
        }
        let ends = self.goes_at.unwrap_or(self.heard_at + DEAF).min(self.said_at + SILENCE);
        Fate::Goes([look, self.duplex.next_timeout()].into_iter().flatten().fold(ends, Time::min))
    }

    /// Admits what the daemon has written, and hears what it has read; when to look again, and whether
    /// all that is written is admitted. Nothing if the daemon has reset the connection.
    fn admit(&mut self, now: Time, depth: f64, inner: &mut Inner) -> Option<(Option<Time>, bool)> {
        let pipe = inner.pipes.get_mut(&self.flow).filter(|pipe| !pipe.reset)?;
        self.duplex.read(now, pipe.take_read());
        let rate = self.gate.look(now, MSS, depth);
        let look = loop {
            let most = (pipe.out.len() as u64).min(MSS.into());
            let bytes = most.min(self.duplex.room());
            if bytes == 0 {
                break None;
            }
            if let Err(at) = self.gate.pass(now, rate, bytes) {
                break Some(at);
            }
            self.sending.extend(pipe.admit(bytes as usize));
            self.duplex.write(now, bytes);
        };
        let finished = pipe.finished && pipe.out.is_empty();
        if pipe.has_room() {
            inner.events.push_back(Event::Writable { flow: self.flow });
        }
        Some((look, finished))
    }

    /// A packet to the other end, with its bytes.
    fn parcel(&mut self, packet: Packet) -> Parcel {
        let bytes = match &packet.header {
            Header::Segment(segment) if segment.payload > 0 => {
                self.sending.segment(segment.seq, segment.payload)
            }
            _ => None,
        };
        let packet = Packet { index: self.me.into(), ..packet };
        Parcel::new(Carried { packet, bytes }, self.peer, None)
    }
}

/// Its bytes by number are the core's: they are cut as it cuts segments.
#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::overlay::applications::Opening;

    fn parts() -> (Applications, Connection) {
        let shared = Applications::new(vec![ServiceSpec::default()], 0, 7);
        let flow = shared.open(1, 0, &Opening { client: (1, 2), server: (3, 4) });
        let service = ServiceSpec::default();
        (shared, Connection::new(Time::ZERO, flow, [0, 1], true, service, 1e12))
    }

    #[test]
    fn an_end_that_hears_nothing_says_that_it_lives_and_gives_up() {
        let (shared, mut end) = parts();
        let (mut now, mut said, mut out) = (Time::ZERO, 0, Vec::new());
        while let Fate::Goes(at) = end.pump(now, 0.0, &shared, &mut out) {
            said += out.drain(..).count();
            now = at.max(now + Span::from_nanos(1));
        }
        assert_eq!(now, Time::ZERO + DEAF);
        assert!(said >= 4, "its SYNs, {said}");
    }

    #[test]
    fn an_acknowledgment_of_what_was_not_sent_is_not_heeded() {
        let (shared, mut end) = parts();
        let ack = sojourn_base::packet::TcpAck { next: 2, ..Default::default() };
        let packet = Carried::from(Packet { header: Header::Ack(ack), ..Packet::default() });
        assert_eq!(end.on_packet(Time::ZERO, &packet, &shared), Ok(()));
        assert!(end.sending.is_empty());
    }

    #[test]
    fn all_bytes_have_one_number() {
        let mut sending = Sending::new();
        sending.extend(0..10);
        let cut = |sending: &mut Sending, seq, payload| {
            sending.segment(seq, payload).map(|bytes| bytes.to_vec())
        };
        assert_eq!(cut(&mut sending, 1, 4), Some(vec![0, 1, 2, 3]));
        assert_eq!(cut(&mut sending, 2, 6), Some((4..10).collect()));
        assert_eq!(cut(&mut sending, 1, 4), Some(vec![0, 1, 2, 3]), "again");
        sending.acked(2);
        assert_eq!((cut(&mut sending, 1, 4), sending.is_empty()), (None, false));
        sending.acked(9);
        assert!(sending.is_empty());
        let mut arriving = Arriving::new();
        let some = |byte: u8| Arc::from([byte]);
        [(2, 2), (1, 1), (2, 9)].iter().for_each(|(seq, byte)| arriving.hold(*seq, &some(*byte)));
        assert_eq!(
            [arriving.pop(), arriving.pop(), arriving.pop()],
            [Some(some(1)), Some(some(2)), None]
        );
        assert!(arriving.expects(2) && !arriving.expects(0) && !arriving.expects(u32::MAX));
    }
}
