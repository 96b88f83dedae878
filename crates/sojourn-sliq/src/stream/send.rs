//! The sending side of a stream: its outstanding packets, and the choice of the next one.

use std::collections::VecDeque;

use super::groups::Groups;
use super::packets::{Attempt, New, Place, Resend, Sent};
use super::past::{Member, Past, Pasts};
use super::{Reliability, StreamConfig};
use crate::lane::Shared;
use crate::payload::Payload;
use crate::wire::{Data, WINDOW};
use sojourn_base::units::Time;

/// The sending side.
#[derive(Debug)]
pub(crate) struct Sender<P> {
    pub(super) id: u8,
    pub(super) slot: usize,
    pub(super) config: StreamConfig,
    /// Packets from `base` on.
    pub(super) sent: VecDeque<Sent<P>>,
    pub(super) base: u64,
    /// The latest packets before `base`.
    past: Pasts,
    /// The first packet that is neither acknowledged nor given up.
    pub(super) una: u64,
    /// The next packet that the peer expects, as far as known.
    pub(super) expected: u64,
    /// Packets that the peer takes from that one on.
    window: u64,
    pub(super) largest: u64,
    pub(super) largest_order: u64,
    /// Packets not acknowledged, far enough below the largest one observed.
    pub(super) holes: Vec<u64>,
    pub(super) searched: u64,
    /// By control: before this packet none of its is outstanding.
    pub(super) oldest: Vec<u64>,
    pub(super) resend: VecDeque<Resend<P>>,
    /// Apart: most streams have none.
    pub(super) groups: Option<Box<Groups<P>>>,
    /// Messages that the application wrote and that were not sent, with their times.
    queue: VecDeque<(Time, P)>,
    fin_wanted: bool,
    pub(super) fin_sent: bool,
    /// When something is retransmitted if no ACK comes.
    pub rto_at: Option<Time>,
    /// Packets retransmitted.
    pub retransmissions: u64,
    /// Packets marked lost.
    pub losses: u64,
}

impl<P: Payload> Sender<P> {
    /// The sending side of stream `id`, whose first packet is number `first`.
    pub(crate) fn new(id: u8, slot: usize, config: StreamConfig, first: u64, lanes: usize) -> Self {
        let adaptive = match config.reliability {
            Reliability::Adaptive { probability, target, .. } => {
                Some(Box::new(Groups::new(probability, target)))
            }
            _ => None,
        };
        Sender {
            id,
            slot,
            config,
            sent: VecDeque::new(),
            base: first,
            past: Pasts::default(),
            una: first,
            expected: first,
            window: WINDOW.into(),
            largest: first,
            largest_order: 0,
            holes: Vec::new(),
            searched: first,
            oldest: vec![first; lanes],
            resend: VecDeque::new(),
            groups: adaptive,
            queue: VecDeque::new(),
            fin_wanted: false,
            fin_sent: false,
            rto_at: None,
            retransmissions: 0,
            losses: 0,
        }
    }

    /// The peer takes so many packets beyond the first one that it misses.
    pub(crate) fn limit_to(&mut self, window: u32) {
        self.window = WINDOW.min(window.max(1)).into();
    }

    /// The application writes a message.
    pub(crate) fn write(&mut self, now: Time, payload: P) {
        self.queue.push_back((now, payload));
    }

    /// The application writes no more.
    pub(crate) fn finish(&mut self) {
        self.fin_wanted = true;
    }

    /// Discards messages written and not sent.
    pub(crate) fn forget_queue(&mut self) {
        self.queue.clear();
    }

    /// Messages that are neither acknowledged nor given up.
    pub(crate) fn held(&self) -> impl Iterator<Item = &P> {
        let sent = self.sent.iter().skip((self.una - self.base) as usize);
        let sent = sent.filter(|sent| !sent.acked).map(|sent| &sent.payload);
        sent.chain(self.queue.iter().map(|(_, payload)| payload))
    }

    /// Messages written and not sent.
    pub(crate) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Whether all that was sent is acknowledged or given up.
    pub(crate) fn all_acked(&self) -> bool {
        self.una == self.next()
    }

    /// Whether the stream is ended, and the peer knows.
    pub(crate) fn finished(&self) -> bool {
        self.fin_sent && self.all_acked()
    }

    /// The next packet's number.
    pub(crate) fn next(&self) -> u64 {
        self.base + self.sent.len() as u64
    }

    pub(super) fn packet(&self, seq: u64) -> Option<&Sent<P>> {
        self.sent.get(seq.checked_sub(self.base)? as usize)
    }

    /// Record of a packet, also of a finished one.
    pub(super) fn record(&self, seq: u64) -> Option<Past> {
        match self.base.checked_sub(seq) {
            Some(back) if back > 0 => self.past.get(back),
            _ => self.packet(seq).map(Sent::past),
        }
    }

    /// Place in a group of a packet, also of a finished one.
    pub(super) fn member(&self, seq: u64) -> Option<Member> {
        match self.base.checked_sub(seq) {
            Some(back) if back > 0 => self.past.member(back),
            _ => self.packet(seq)?.member(),
        }
    }

    /// Finishes the first packet.
    pub(super) fn forget_first(&mut self) {
        let Some(first) = self.sent.front() else { return };
        let member = self.groups.as_ref().map(|_| first.member());
        self.past.push(first.past(), member);
        self.sent.pop_front();
        self.base += 1;
    }

    pub(super) fn packet_mut(&mut self, seq: u64) -> Option<&mut Sent<P>> {
        self.sent.get_mut(seq.checked_sub(self.base)? as usize)
    }

    /// Whether the window has room for another packet.
    pub(super) fn room(&self) -> bool {
        self.next() - self.base < WINDOW.into() && self.next() - self.expected < self.window
    }

    /// Whether new data waits and the window has room for it.
    pub(crate) fn has_new(&self) -> bool {
        let ends = self.fin_wanted && !self.fin_sent;
        (!self.queue.is_empty() || ends) && self.room()
    }

    /// Whether something waits to be sent again, or coded packets do.
    pub(crate) fn has_resend(&self) -> bool {
        !self.resend.is_empty() || self.groups.as_ref().is_some_and(|g| !g.fresh.is_empty())
    }

    /// The next new packet.
    pub(crate) fn try_new(
        &mut self,
        now: Time,
        shared: &mut Shared,
        place: &mut Place<P>,
    ) -> Attempt {
        if !self.room() {
            return Attempt::Nothing;
        }
        let Some((_, front)) = self.queue.front() else { return self.try_fin(now, shared, place) };
        let Some(lane) = shared.permits(now, front.len() as u32, false) else {
            return Attempt::Blocked;
        };
        let Some((written_at, payload)) = self.queue.pop_front() else { return Attempt::Nothing };
        let fec = self.join_group();
        self.send_new(now, shared, lane, New { payload, fec, fin: false, written_at }, place)
    }

    #[cold]
    fn try_fin(&mut self, now: Time, shared: &mut Shared, place: &mut Place<P>) -> Attempt {
        if !self.fin_wanted || self.fin_sent {
            return Attempt::Nothing;
        }
        self.force_group_end(now, shared.moment(now));
        if self.groups.as_ref().is_some_and(|groups| !groups.fresh.is_empty()) {
            return self.try_fresh(now, shared, place);
        }
        let Some(lane) = shared.permits(now, 0, false) else { return Attempt::Blocked };
        self.fin_sent = true;
        let end = New { payload: P::default(), fec: None, fin: true, written_at: now };
        self.send_new(now, shared, lane, end, place)
    }

    /// Sends a packet for the first time.
    pub(super) fn send_new(
        &mut self,
        now: Time,
        shared: &mut Shared,
        lane: usize,
        new: New<P>,
        place: &mut Place<P>,
    ) -> Attempt {
        let New { payload, fec, fin, written_at } = new;
        let seq = self.next();
        let stamp = shared.clock.stamp(now);
        let wire = fec.map(|(_, fec)| fec);
        let data = Data { control: lane as u8, fin, fec: wire, ..self.header(seq, stamp, shared) };
        let bytes = payload.len() as u32;
        let srtt = shared.rtt.smoothed();
        let count = shared.count_data();
        shared.order += 1;
        let owner = &mut shared.lanes[lane];
        let view = owner.view(now, srtt);
        let window = owner.control.on_sent(&view, bytes);
        let number = owner.next;
        owner.next += 1;
        owner.flight.packets += 1;
        owner.flight.bytes += i64::from(bytes);
        owner.flight.pipe += i64::from(bytes);
        self.sent.push_back(Sent {
            payload: payload.clone(),
            bytes,
            size: data.size() as u32 + bytes,
            lane: lane as u8,
            number,
            order: shared.order,
            window,
            written_at,
            first_at: now,
            last_at: now,
            resent: 0,
            limit: self.config.limit(),
            counts: [count; 2],
            fin,
            acked: false,
            lost: false,
            waiting: false,
            fec: fec.map(|(group, fec)| Box::new((group, fec, shared.moment(now)))),
        });
        self.arm(now, shared);
        if let Some((group, fec)) = fec {
            let moment = shared.moment(now);
            self.joined_group(now, shared, group, fec, seq, moment);
        }
        *place = Some((data, payload));
        Attempt::Sent
    }

    /// A data header with what does not depend on the packet.
    pub(super) fn header(&self, seq: u64, stamp: u32, shared: &Shared) -> Data {
        Data {
            stream: self.id,
            seq: seq as u32,
            stamp,
            delta: shared.with_delta.then_some(shared.delta),
            forward: self.forward(),
            ..Data::default()
        }
    }

    /// The packet before which the receiver need not wait.
    fn forward(&self) -> Option<u32> {
        let upto = match self.config.reliability {
            Reliability::Reliable => return None,
            Reliability::Adaptive { .. } if self.fin_sent => return Some(self.next() as u32),
            Reliability::Adaptive { .. } => self.base,
            _ => self.una,
        };
        (self.expected < upto).then_some(upto as u32)
    }

    pub(super) fn arm(&mut self, now: Time, shared: &Shared) {
        self.rto_at.get_or_insert_with(|| now + shared.rtt.rto());
    }
}
