//! Retransmissions after a detected loss, and after a timeout.

use super::Reliability;
use super::packets::{Attempt, Coded, New, Place, Resend, Sent};
use super::send::Sender;
use crate::lane::Shared;
use crate::payload::Payload;
use crate::wire::{Data, Fec};
use sojourn_base::units::{Span, Time};

impl<P: Payload> Sender<P> {
    /// The next packet that is sent again, or a coded one of a group.
    #[inline(never)]
    pub(crate) fn try_resend(
        &mut self,
        now: Time,
        shared: &mut Shared,
        place: &mut Place<P>,
    ) -> Attempt {
        self.discard_useless_coded();
        if self.groups.as_ref().is_some_and(|groups| !groups.fresh.is_empty()) {
            return self.try_fresh(now, shared, place);
        }
        while let Some(next) = self.resend.front() {
            let bytes = match next {
                Resend::Packet(seq) => self.wanted(*seq).map(|sent| sent.bytes),
                Resend::Coded(coded) => {
                    self.still_coded(coded.group).then(|| coded.payload.len() as u32)
                }
            };
            let Some(bytes) = bytes else {
                self.drop_front(now, shared);
                continue;
            };
            let again = matches!(next, Resend::Packet(_));
            let Some(lane) = shared.permits(now, bytes, again) else { return Attempt::Blocked };
            return match self.resend.pop_front() {
                Some(Resend::Packet(seq)) => self.send_again(now, shared, seq, Some(lane), place),
                Some(Resend::Coded(coded)) => self.send_coded(now, shared, lane, coded, place),
                None => Attempt::Nothing,
            };
        }
        Attempt::Nothing
    }

    fn drop_front(&mut self, now: Time, shared: &Shared) {
        if let Some(Resend::Coded(coded)) = self.resend.pop_front() {
            self.coded_not_sent(now, coded.group, shared.moment(now));
        }
    }

    /// A packet that waits to be sent again, unless it was acknowledged meanwhile.
    fn wanted(&self, seq: u64) -> Option<&Sent<P>> {
        let sent = self.packet(seq).filter(|sent| seq >= self.una && !sent.acked)?;
        let useful =
            !sent.is_coded() || sent.fec().is_some_and(|(group, _)| self.still_coded(group));
        useful.then_some(sent)
    }

    /// Sends a coded packet of the round under way for the first time.
    #[inline(never)]
    pub(super) fn try_fresh(
        &mut self,
        now: Time,
        shared: &mut Shared,
        place: &mut Place<P>,
    ) -> Attempt {
        let fresh = self.groups.as_ref().and_then(|groups| groups.fresh.front());
        let Some(bytes) = fresh.map(|coded| coded.payload.len() as u32) else {
            return Attempt::Nothing;
        };
        if !self.room() {
            return Attempt::Nothing;
        }
        let Some(lane) = shared.permits(now, bytes, false) else { return Attempt::Blocked };
        let coded = self.groups.as_mut().and_then(|groups| groups.fresh.pop_front());
        coded.map_or(Attempt::Nothing, |coded| self.send_coded(now, shared, lane, coded, place))
    }

    fn send_coded(
        &mut self,
        now: Time,
        shared: &mut Shared,
        lane: usize,
        coded: Coded<P>,
        place: &mut Place<P>,
    ) -> Attempt {
        let fec = Fec {
            group: coded.group as u16,
            index: coded.index,
            sources: coded.sources,
            round: self.round(coded.group),
            encoded: Some(coded.lengths),
        };
        let fec = Some((coded.group, fec));
        let new = New { payload: coded.payload, fec, fin: false, written_at: now };
        self.send_new(now, shared, lane, new, place)
    }

    /// Sends a packet again; without a control, because of a timeout.
    #[inline(never)]
    fn send_again(
        &mut self,
        now: Time,
        shared: &mut Shared,
        seq: u64,
        lane: Option<usize>,
        place: &mut Place<P>,
    ) -> Attempt {
        let stamp = shared.clock.stamp(now);
        let round = |group| if lane.is_some() { self.round(group) } else { 0 };
        let header = self.header(seq, stamp, shared);
        let Some(sent) = self.packet(seq) else { return Attempt::Nothing };
        let fec = sent.fec().map(|(group, fec)| (group, Fec { round: round(group), ..fec }));
        let data = Data {
            control: lane.map_or(sent.lane, |lane| lane as u8),
            retransmissions: sent.resent.saturating_add(1),
            fin: sent.fin,
            fec: fec.map(|(_, fec)| fec),
            ..header
        };
        let (payload, owner, number, bytes) =
            (sent.payload.clone(), usize::from(sent.lane), sent.number, sent.bytes);
        let count = shared.count_data();
        let moment = shared.moment(now);
        let first = sent.resent == 0;
        let mut window = sent.window;
        if let Some(lane) = lane {
            let srtt = shared.rtt.smoothed();
            let lane = &mut shared.lanes[lane];
            let view = lane.view(now, srtt);
            window = lane.control.on_resent(&view, number, bytes);
        }
        if first {
            shared.lanes[owner].flight.pipe += i64::from(bytes);
        }
        if let Some(sent) = self.packet_mut(seq) {
            sent.resent = data.retransmissions;
            sent.counts = [count, sent.counts[0]];
            sent.last_at = now;
            sent.size = data.size() as u32 + bytes;
            sent.window = window;
            if lane.is_some() {
                sent.waiting = false;
            }
            if let (Some(kept), Some((group, fec))) = (&mut sent.fec, fec) {
                let round = if lane.is_some() { fec.round } else { kept.1.round };
                **kept = (group, Fec { round, ..fec }, moment);
            }
        }
        self.retransmissions += 1;
        self.arm(now, shared);
        if let (Some((group, fec)), Some(_)) = (fec, lane) {
            self.resent_in_group(now, group, &fec, moment);
        }
        *place = Some((data, payload));
        Attempt::Sent
    }

    /// Retransmits the lowest or highest packet that may be, whatever the controls permit.
    pub(crate) fn resend_on_timeout(
        &mut self,
        now: Time,
        shared: &mut Shared,
        lowest: bool,
    ) -> Option<(Data, P)> {
        let after = shared.rtt.retransmit_after(4.0);
        let mut candidates = (self.una..self.next()).filter(|seq| {
            self.packet(*seq).is_some_and(|sent| !sent.acked && self.may_time_out(sent, now, after))
        });
        let seq = if lowest { candidates.next() } else { candidates.next_back() }?;
        let mut place = None;
        self.send_again(now, shared, seq, None, &mut place);
        place
    }

    fn may_time_out(&self, sent: &Sent<P>, now: Time, after: Span) -> bool {
        if sent.fin {
            return true;
        }
        let within = |limit: u8| limit > 0 && (sent.resent < limit || now < sent.last_at + after);
        sent.limit.is_none_or(within)
            && (!sent.is_coded() || sent.fec().is_some_and(|(group, _)| self.still_coded(group)))
    }

    /// Asks the peer for an ACK.
    pub(crate) fn probe(&self, now: Time, shared: &mut Shared) -> (Data, P) {
        let stamp = shared.clock.stamp(now);
        let seq = self.next().saturating_sub(1).max(self.base);
        let data = Data { persist: true, ..self.header(seq, stamp, shared) };
        shared.count_data();
        (data, P::default())
    }

    /// Whether a packet found lost may be sent again at once.
    pub(super) fn may_resend(&self, sent: &Sent<P>) -> bool {
        if sent.fin {
            return true;
        }
        let within = sent.limit.is_none_or(|limit| sent.resent < limit);
        within && sent.fec().is_none_or(|(group, fec)| self.may_repair(group, &fec))
    }

    /// Gives up packets that are too old or no longer useful.
    pub(super) fn give_up(&mut self, now: Time, shared: &mut Shared, after_outage: bool) {
        while let Some(sent) = self.packet(self.una) {
            if !sent.acked {
                let after = shared.rtt.retransmit_after(4.0);
                if sent.fin || !self.is_useless(sent, now, after, after_outage) {
                    break;
                }
                shared.lanes[usize::from(sent.lane)].leaves(sent.bytes, sent.lost, sent.resent > 0);
                let una = self.una;
                if let Some(sent) = self.packet_mut(una) {
                    sent.acked = true;
                }
            }
            self.una += 1;
        }
        shared.settle();
        self.forget_old(after_outage);
    }

    fn is_useless(&self, sent: &Sent<P>, now: Time, after: Span, after_outage: bool) -> bool {
        let exhausted =
            || sent.limit.is_some_and(|limit| sent.resent >= limit) && now > sent.last_at + after;
        match self.config.reliability {
            Reliability::Reliable => false,
            Reliability::SemiReliable { .. } if after_outage => {
                let times = u64::from(sent.limit.unwrap_or(0)) + 1;
                now > sent.first_at + after * times
            }
            _ if after_outage => true,
            Reliability::SemiReliable { .. } => exhausted(),
            Reliability::BestEffort => sent.lost,
            Reliability::Adaptive { .. } if sent.is_coded() => sent.lost,
            Reliability::Adaptive { .. } => exhausted(),
        }
    }

    /// Drops what neither acknowledgments nor groups need any more.
    pub(super) fn forget_old(&mut self, all: bool) {
        while self.base < self.una {
            if self.groups.is_some() && !all {
                let kept = self.packet(self.base).and_then(Sent::fec);
                if kept.is_some_and(|(group, fec)| fec.encoded.is_none() && self.still_coded(group))
                {
                    break;
                }
            }
            self.forget_first();
        }
        let (una, base) = (self.una, self.base);
        if !self.holes.is_empty() {
            self.holes.retain(|seq| *seq >= una);
        }
        self.searched = self.searched.max(una);
        if self.groups.is_some() {
            self.forget_groups(base);
        }
    }
}
