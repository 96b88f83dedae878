//! Rounds of a group: the end of one, and the packets of the next.

use super::packets::Resend;
use super::send::Sender;
use crate::aec::OUT_OF_ROUNDS;
use crate::clock::{Moment, distance, expand};
use crate::payload::Payload;
use crate::wire::{Fec, MAX_GROUP, Observed};
use sojourn_base::units::Time;

/// A packet that is observed again counts from this long after a round, in microseconds.
const AGAIN: u32 = 4_000;

impl<P: Payload> Sender<P> {
    /// The round that a group's packets are sent in.
    pub(super) fn round(&self, id: u64) -> u8 {
        self.groups.as_ref().and_then(|groups| groups.get(id)).map_or(0, |group| group.round)
    }

    /// Whether a group still uses its code.
    pub(super) fn still_coded(&self, id: u64) -> bool {
        self.groups
            .as_ref()
            .and_then(|groups| groups.get(id))
            .is_some_and(|group| group.round <= group.rounds && group.sources_acked < group.sources)
    }

    /// Whether a lost packet of a group is retransmitted by itself: only after its rounds.
    pub(super) fn may_repair(&self, id: u64, fec: &Fec) -> bool {
        let group = self.groups.as_ref().and_then(|groups| groups.get(id));
        group.is_none_or(|group| {
            group.round > group.rounds
                && group.sources_acked < group.sources
                && fec.encoded.is_none()
        })
    }

    /// A packet of a group was sent again.
    pub(super) fn resent_in_group(&mut self, now: Time, id: u64, fec: &Fec, sent: Moment) {
        let Some(groups) = &mut self.groups else { return };
        let Some(group) = groups.get_mut(id).filter(|group| group.round <= group.rounds) else {
            return;
        };
        group.sent[usize::from(fec.encoded.is_some())] += 1;
        if group.round_sent() {
            groups.round_sent(now, id, sent);
        }
    }

    /// A coded packet is not sent after all.
    pub(super) fn coded_not_sent(&mut self, now: Time, id: u64, sent: Moment) {
        let Some(groups) = &mut self.groups else { return };
        let Some(group) = groups.get_mut(id).filter(|group| group.round <= group.rounds) else {
            return;
        };
        group.sent[1] += 1;
        if group.round_sent() {
            groups.round_sent(now, id, sent);
        }
    }

    /// Drops coded packets of groups that are complete.
    pub(super) fn discard_useless_coded(&mut self) {
        while let Some(groups) = &mut self.groups {
            let Some(id) = groups.fresh.front().map(|coded| coded.group) else { return };
            if self.still_coded(id) {
                return;
            }
            let Some(groups) = &mut self.groups else { return };
            groups.fresh.pop_front();
            if let Some(group) = groups.get_mut(id) {
                group.sent[1] += 1;
            }
        }
    }

    /// A packet was observed: what was sent before it has arrived or is lost.
    #[inline(never)] // few streams are adaptive
    pub(super) fn end_rounds(&mut self, observed: Observed) {
        let seq = expand(observed.seq, self.next());
        let known = seq.and_then(|seq| self.member(seq));
        let of_this_sending =
            known.filter(|(_, _, sent)| distance(sent.stamp, observed.stamp) <= 0);
        let bit = known.map(|(group, index, _)| (group, 1u32 << index));
        while let Some(groups) = &mut self.groups {
            let Some(end) = groups.ends.front_mut() else { return };
            let mine = bit.filter(|(group, _)| *group == end.group).map(|(_, bit)| bit);
            let again = mine.is_some_and(|bit| end.observed & bit != 0);
            let over = if again {
                distance(observed.stamp, end.sent.stamp.wrapping_add(AGAIN)) >= 0
            } else {
                of_this_sending
                    .is_some_and(|(_, _, sent)| distance(sent.count, end.sent.count) >= 0)
            };
            if let (Some(bit), Some(_)) = (mine, of_this_sending) {
                end.observed |= bit;
            }
            if !over {
                return;
            }
            let id = end.group;
            groups.ends.pop_front();
            self.end_round(id);
        }
    }

    fn end_round(&mut self, id: u64) {
        let Some(groups) = &mut self.groups else { return };
        let Some(group) = groups.get_mut(id) else { return };
        if group.sources_acked + group.coded_acked >= group.sources {
            group.round = OUT_OF_ROUNDS;
            return;
        }
        self.start_round(id);
    }

    /// Begins a group's next round: what it retransmits, what it codes.
    pub(super) fn start_round(&mut self, id: u64) {
        let Some((again, fresh)) = self.plan_round(id) else { return };
        let mut left = again;
        let of_group = |sender: &Self, index: usize| {
            sender.groups.as_ref()?.get(id)?.packets.get(index).copied()
        };
        for index in 0.. {
            if left == [0; 2] {
                break;
            }
            let Some((seq, coded)) = of_group(self, index) else { break };
            let kind = usize::from(coded);
            let missing = self.packet(seq).is_some_and(|sent| !sent.acked && !sent.waiting);
            if left[kind] == 0 || !missing || seq < self.una {
                continue;
            }
            left[kind] -= 1;
            self.resend.push_back(Resend::Packet(seq));
            if let Some(sent) = self.packet_mut(seq) {
                sent.waiting = true;
            }
        }
        let Some(group) = self.groups.as_mut().and_then(|groups| groups.get_mut(id)) else {
            return;
        };
        if group.round > 1 {
            group.due[0] -= left[0];
            group.due[1] -= left[1];
            if group.due == [0; 2] {
                group.round = OUT_OF_ROUNDS;
                return;
            }
        }
        let (sources, coded) = (group.sources, group.coded);
        if group.round == 1 {
            group.coded = fresh;
        } else if fresh > 0 {
            let made = self.make_coded(id, sources, sources + coded..sources + coded + fresh);
            let count = made.len() as u8;
            self.resend.extend(made.into_iter().map(Resend::Coded));
            let Some(group) = self.groups.as_mut().and_then(|groups| groups.get_mut(id)) else {
                return;
            };
            group.coded += count;
            group.due[1] -= fresh - count;
            if group.coded_in == 0 {
                group.coded_in = group.round;
            }
        }
    }

    /// Numbers of source and coded packets that the next round retransmits, and of new coded ones;
    /// `None` if there is no round left.
    fn plan_round(&mut self, id: u64) -> Option<([u8; 2], u8)> {
        let groups = self.groups.as_mut()?;
        let group = groups.get_mut(id)?;
        group.round += 1;
        group.sent = [0; 2];
        if group.round > group.rounds {
            group.round = OUT_OF_ROUNDS;
            group.due = [0; 2];
            return None;
        }
        let group = groups.get(id)?;
        let lost = group.sources.saturating_sub(group.sources_acked);
        let coded_lost = group.coded.saturating_sub(group.coded_acked);
        let last = group.round == group.rounds;
        let plan = groups.plan(group);
        let total =
            plan.map_or(lost, |plan| plan.packets(last, group.sources_acked, group.coded_acked));
        let sources = total.min(lost);
        let coded = total - sources;
        let repeated = coded.min(coded_lost);
        let room = MAX_GROUP.saturating_sub(group.sources + group.coded);
        let fresh = (coded - repeated).min(room);
        let first = group.round == 1;
        let again_coded =
            if group.coded_in > 0 && group.round > group.coded_in { repeated } else { 0 };
        groups.get_mut(id)?.due = [sources, repeated + fresh];
        Some((if first { [0; 2] } else { [sources, again_coded] }, fresh))
    }
}
