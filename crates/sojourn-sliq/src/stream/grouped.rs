//! A sender whose packets form groups.

use super::groups::Groups;
use super::packets::{Coded, Resend};
use super::send::Sender;
use crate::clock::Moment;
use crate::lane::Shared;
use crate::payload::Payload;
use crate::wire::{Fec, MAX_GROUP};
use sojourn_base::units::Time;

impl<P: Payload> Sender<P> {
    /// How error control works now, on an adaptive stream.
    pub(crate) fn mode(&self) -> Option<&'static str> {
        self.groups.as_deref().map(Groups::mode)
    }

    /// Groups begun in each mode: pure ARQ, coded ARQ, pure FEC.
    pub(crate) fn groups_begun(&self) -> [u64; 3] {
        self.groups.as_ref().map_or([0; 3], |groups| groups.begun)
    }

    /// When a group that waits for more source packets is ended without them.
    pub(crate) fn group_end(&self) -> Option<Time> {
        self.groups.as_ref().and_then(|groups| groups.force_at)
    }

    /// The time of [`Sender::group_end`] has come.
    pub(crate) fn end_group(&mut self, now: Time, shared: &Shared) {
        self.force_group_end(now, shared.moment(now));
    }

    /// The place of the next source packet, on an adaptive stream.
    pub(super) fn join_group(&mut self) -> Option<(u64, Fec)> {
        let groups = self.groups.as_mut()?;
        let group = groups.open();
        let fec =
            Fec { group: group as u16, index: groups.index, sources: 0, round: 1, encoded: None };
        Some((group, fec))
    }

    /// A new packet of a group was sent.
    #[inline(never)]
    pub(super) fn joined_group(
        &mut self,
        now: Time,
        shared: &Shared,
        id: u64,
        fec: Fec,
        seq: u64,
        sent: Moment,
    ) {
        let base_limit = self.config.limit().unwrap_or(0);
        let Some(groups) = &mut self.groups else { return };
        let coded = fec.encoded.is_some();
        if !coded && fec.index == 0 {
            groups.begin(now, shared, base_limit);
            self.start_round(id);
        }
        let Some(groups) = &mut self.groups else { return };
        let Some(group) = groups.get_mut(id) else { return };
        group.packets.push((seq, coded));
        group.sent[usize::from(coded)] += 1;
        let limit = group.limit;
        let (last_source, sources) = (!coded && fec.index + 1 == group.sources, group.sources);
        let total = group.sources + group.coded;
        let complete = group.round_sent();
        if !coded && !last_source {
            groups.index = fec.index + 1;
            if fec.index == 0 {
                groups.force_at = Some(now + groups.patience(total));
            }
        }
        if let Some(packet) = self.packet_mut(seq) {
            packet.limit = Some(limit);
        }
        if last_source {
            self.close_group(now, id, sources, sent);
        } else if coded
            && complete
            && let Some(groups) = &mut self.groups
        {
            groups.round_sent(now, id, sent);
        }
    }

    /// All source packets of a group are there: makes its coded ones.
    fn close_group(&mut self, now: Time, id: u64, sources: u8, sent: Moment) {
        let Some(groups) = &mut self.groups else { return };
        groups.index = 0;
        groups.force_at = None;
        let coded = groups.get(id).map_or(0, |group| group.coded);
        if coded == 0 {
            groups.round_sent(now, id, sent);
            return;
        }
        let made = self.make_coded(id, sources, sources..sources + coded);
        let Some(groups) = &mut self.groups else { return };
        if let Some(group) = groups.get_mut(id) {
            group.coded_in = group.round;
        }
        groups.fresh.extend(made);
    }

    pub(super) fn make_coded(
        &self,
        id: u64,
        sources: u8,
        range: std::ops::Range<u8>,
    ) -> Vec<Coded<P>> {
        let Some(group) = self.groups.as_ref().and_then(|groups| groups.get(id)) else {
            return Vec::new();
        };
        let of_group = group.packets.iter().filter(|(_, coded)| !coded);
        let payloads: Vec<(u32, P)> = of_group
            .filter_map(|(seq, _)| Some((*seq as u32, self.packet(*seq)?.payload.clone())))
            .collect();
        if payloads.len() != usize::from(sources) {
            return Vec::new();
        }
        let coded = P::encode(&payloads, range.clone()).into_iter().zip(range);
        let made =
            |((payload, lengths), index)| Coded { group: id, index, sources, payload, lengths };
        coded.map(made).collect()
    }

    /// Ends the open group with the source packets that it has.
    #[inline(never)]
    pub(super) fn force_group_end(&mut self, now: Time, sent: Moment) {
        let Some(groups) = &mut self.groups else { return };
        groups.force_at = None;
        if groups.index == 0 {
            return;
        }
        let id = groups.open();
        let Some(group) = groups.get_mut(id).filter(|group| group.round == 1) else { return };
        group.forced = true;
        group.sources = group.sent[0];
        let (sources, last) = (group.sources, group.round == group.rounds);
        let plan = groups.get(id).and_then(|group| groups.plan(group));
        let packets = plan.map_or(sources, |plan| plan.packets(last, 0, 0));
        let coded = packets.clamp(sources, MAX_GROUP) - sources;
        if let Some(group) = groups.get_mut(id) {
            group.coded = coded;
            group.due = [sources, coded];
        }
        self.close_group(now, id, sources, sent);
    }

    /// Discards groups all of whose packets are finished.
    #[inline(never)]
    pub(super) fn forget_groups(&mut self, base: u64) {
        if let Some(groups) = &mut self.groups {
            groups.forget(base);
        }
    }

    /// Restarts groups after an outage.
    pub(super) fn restart_groups(&mut self) {
        let Some(groups) = &mut self.groups else { return };
        groups.restart();
        self.resend.retain(|resend| matches!(resend, Resend::Packet(_)));
    }

    /// A packet of a group was acknowledged; whether it was `waiting` to be sent again.
    #[inline(never)]
    pub(super) fn acked_in_group(
        &mut self,
        now: Time,
        shared: &Shared,
        id: u64,
        fec: &Fec,
        waiting: bool,
    ) {
        let Some(groups) = &mut self.groups else { return };
        groups.early_ack(now, id);
        let Some(group) = groups.get_mut(id) else { return };
        let coded = usize::from(fec.encoded.is_some());
        let in_time = group.round <= group.rounds;
        match coded {
            0 => group.sources_acked += 1,
            _ => group.coded_acked += 1,
        }
        let again = group.round > if coded == 0 { 1 } else { group.coded_in.max(1) };
        if waiting && again && in_time {
            group.sent[coded] += 1;
            if group.round_sent() {
                groups.round_sent(now, id, shared.moment(now));
            }
        }
    }
}
