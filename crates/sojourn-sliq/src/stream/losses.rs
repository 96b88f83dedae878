//! Loss detection of the sending side.

use super::Reliability;
use super::packets::Resend;
use super::send::Sender;
use crate::lane::Shared;
use crate::payload::Payload;
use sojourn_base::units::{Span, Time};

/// Distance below the largest observed packet at which a packet is marked lost.
const DISTANCE: u64 = 3;

impl<P: Payload> Sender<P> {
    /// Checks the unacknowledged packets below the largest observed one.
    pub(super) fn find_losses(&mut self, now: Time, shared: &mut Shared) {
        let upto = (self.largest + 1).saturating_sub(DISTANCE).min(self.next());
        self.searched = self.searched.max(self.una);
        while self.searched < upto {
            let seq = self.searched;
            self.searched += 1;
            if self.packet(seq).is_some_and(|sent| !sent.acked) {
                self.holes.push(seq);
            }
        }
        if !self.holes.is_empty() {
            self.look_at_holes(now, shared);
        }
    }

    #[inline(never)]
    fn look_at_holes(&mut self, now: Time, shared: &mut Shared) {
        let mut holes = std::mem::take(&mut self.holes);
        let after = shared.rtt.repeat_after();
        holes.retain(|seq| {
            let open = self.packet(*seq).is_some_and(|sent| !sent.acked);
            if open {
                self.maybe_lost(now, *seq, after, false, shared);
            }
            open
        });
        self.holes = holes;
    }

    fn maybe_lost(&mut self, now: Time, seq: u64, after: Span, force: bool, shared: &mut Shared) {
        let srtt = shared.rtt.smoothed();
        let Some(sent) = self.packet(seq) else { return };
        let (known, lane, bytes) = (sent.lost, usize::from(sent.lane), sent.bytes);
        let overdue = known && !sent.waiting && now >= sent.last_at + after;
        let owner = &mut shared.lanes[lane];
        let found = force
            || !known && {
                owner.start_ack(now, srtt);
                let view = owner.view(now, srtt);
                owner.control.on_lost(&view, sent.number)
            };
        if (found || overdue) && !sent.waiting && self.may_resend(sent) {
            self.resend.push_back(Resend::Packet(seq));
            if let Some(sent) = self.packet_mut(seq) {
                sent.waiting = true;
            }
        }
        if found && !known {
            shared.lanes[lane].loses(bytes);
            self.losses += 1;
            if let Some(sent) = self.packet_mut(seq) {
                sent.lost = true;
            }
        }
    }

    /// Packets of all streams up to this place were sent before one that arrived.
    #[inline(never)]
    pub(crate) fn on_implicit_ack(&mut self, now: Time, largest_order: u64, shared: &mut Shared) {
        let after = shared.rtt.repeat_after();
        for seq in self.una..self.next() {
            let Some(sent) = self.packet(seq) else { break };
            // Packets after this one were sent later still.
            if sent.order + DISTANCE > largest_order || now < sent.first_at + after {
                break;
            }
            if !sent.acked && now >= sent.last_at + after {
                self.maybe_lost(now, seq, after, false, shared);
            }
        }
        self.after_losses(now, shared);
    }

    /// The first ACK after a timeout: marks all unacknowledged packets lost.
    #[cold]
    pub(crate) fn lose_all(&mut self, now: Time, shared: &mut Shared) {
        let after = shared.rtt.repeat_after();
        for seq in self.una..self.next() {
            if self.packet(seq).is_some_and(|sent| !sent.acked && !sent.lost) {
                self.maybe_lost(now, seq, after, true, shared);
            }
        }
        self.after_losses(now, shared);
    }

    fn after_losses(&mut self, now: Time, shared: &mut Shared) {
        shared.settle();
        if self.config.reliability != Reliability::Reliable {
            let before = self.una;
            self.give_up(now, shared, false);
            if self.una != before {
                self.report_oldest(shared);
            }
        }
    }
}
