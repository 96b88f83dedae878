//! Groups of packets on an adaptive stream: which there are, and what each still has to send.

use std::collections::VecDeque;

use super::Target;
use super::send::{Coded, Resend, Sender};
use crate::aec::{Decider, Decision, MAX_GROUP, MAX_SOURCES, OUT_OF_ROUNDS, Path, Plan};
use crate::clock::Moment;
use crate::lane::Shared;
use crate::payload::Payload;
use crate::wire::Fec;
use sojourn_base::units::{Span, Time};

/// Groups in a row without an early ACK after which they may have one more source packet.
const PATIENCE: u32 = 16;
const DURATION_GAIN: f64 = 0.25;
const GAP_GAIN: f64 = 0.05;

/// A group.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    pub sources: u8,
    pub coded: u8,
    pub sources_acked: u8,
    pub coded_acked: u8,
    pub round: u8,
    pub rounds: u8,
    pub arq: bool,
    /// The error rate that its plan is for.
    pub per: f64,
    /// In this round: source and coded packets to send, and sent.
    pub due: [u8; 2],
    pub sent: [u8; 2],
    /// The round in which coded packets were made first, or 0.
    pub coded_in: u8,
    pub forced: bool,
    pub first_at: Time,
    /// Sequence numbers of its packets.
    pub packets: Vec<(u64, bool)>,
    pub limit: u8,
}

impl Group {
    /// Whether all that this round sends has been sent.
    pub fn round_sent(&self) -> bool {
        self.sent[0] >= self.due[0] && self.sent[1] >= self.due[1]
    }

    fn first_round_unanswered(&self) -> bool {
        !self.arq && self.round == 1 && self.sources_acked + self.coded_acked == 0
    }
}

/// Observed packets tell when a round is over.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundEnd {
    pub group: u64,
    /// When the round's last packet was sent.
    pub sent: Moment,
    /// Packets of the group that were observed in this round.
    pub observed: u32,
}

/// Groups of a stream.
#[derive(Clone, Debug)]
pub(super) struct Groups<P> {
    decider: Option<Decider>,
    fixed_rounds: u8,
    groups: VecDeque<Group>,
    first: u64,
    /// Packets of the open group so far.
    index: u8,
    /// Coded packets of the first round that wait to be sent.
    pub fresh: VecDeque<Coded<P>>,
    pub ends: VecDeque<RoundEnd>,
    next_sources: u8,
    quiet_groups: u32,
    /// Seconds that source packets of a group may take, and from packet to packet.
    duration: f64,
    gap: Option<f64>,
    /// When the open group is ended with the packets that it has.
    pub force_at: Option<Time>,
    last: Decision,
    /// Groups begun: pure ARQ, coded ARQ, pure FEC.
    pub begun: [u64; 3],
}

impl<P> Groups<P> {
    pub fn new(probability: f64, target: Target) -> Self {
        let (decider, fixed_rounds) = match target {
            Target::Deadline(deadline) => (Decider::new(probability, deadline), 0),
            Target::Rounds(rounds) => (Decider::new(probability, Span::MAX), rounds),
        };
        Groups {
            decider: Some(decider),
            fixed_rounds,
            groups: VecDeque::new(),
            first: 0,
            index: 0,
            fresh: VecDeque::new(),
            ends: VecDeque::new(),
            next_sources: MAX_SOURCES,
            quiet_groups: 0,
            duration: 1.0,
            gap: None,
            force_at: None,
            last: Decision::Arq { rounds: 1 },
            begun: [0; 3],
        }
    }

    pub fn mode(&self) -> &'static str {
        self.last.name()
    }

    pub fn get(&self, group: u64) -> Option<&Group> {
        self.groups.get(group.checked_sub(self.first)? as usize)
    }

    pub fn get_mut(&mut self, group: u64) -> Option<&mut Group> {
        self.groups.get_mut(group.checked_sub(self.first)? as usize)
    }

    fn open(&self) -> u64 {
        self.first + self.groups.len() as u64 - u64::from(self.index > 0)
    }

    /// The plan of a group that uses the code.
    pub fn plan(&self, group: &Group) -> Option<&'static Plan> {
        let decider = self.decider.as_ref().filter(|_| !group.arq)?;
        Some(decider.plan(group.per, group.rounds, group.sources))
    }

    /// How long the source packets of a new group may take.
    fn patience(&self, packets: u8) -> Span {
        let packets = f64::from(packets.max(2));
        let limit = self.gap.map_or(f64::INFINITY, |gap| 1.2 * gap * packets);
        Span::from_secs_f64(self.duration.min(limit))
    }

    fn decide(&mut self, shared: &Shared) -> Decision {
        let decision = match (&mut self.decider, self.fixed_rounds) {
            (Some(decider), 0) => decider.decide(Path {
                per: shared.per.rate,
                max_rtt: shared.rtt.max_rtt(),
                max_delay: shared.max_delay,
                send_rate: shared.send_rate,
            }),
            (_, rounds) => Decision::Coded { rounds: rounds.max(1), sources: self.next_sources },
        };
        match decision {
            Decision::Coded { sources, .. } if sources <= self.next_sources => {
                (self.next_sources, self.quiet_groups) = (sources, 0);
            }
            Decision::Coded { .. } => {}
            Decision::Arq { .. } => self.quiet_groups = 0,
        }
        let which = match &decision {
            Decision::Arq { .. } => 0,
            Decision::Coded { rounds: 1, .. } => 2,
            Decision::Coded { .. } => 1,
        };
        self.begun[which] += 1;
        self.last = decision.clone();
        decision
    }

    /// Begins a group with its first source packet.
    fn begin(&mut self, now: Time, shared: &Shared, limit: u8) {
        let decision = self.decide(shared);
        let (rounds, sources, arq) = match decision {
            Decision::Arq { rounds } => (rounds, 1, true),
            Decision::Coded { rounds, .. } => (rounds, self.next_sources, false),
        };
        let limit = limit.max(rounds.saturating_sub(1));
        let per = shared.per.rate;
        let group = Group { sources, rounds, arq, per, first_at: now, limit, ..Group::default() };
        self.groups.push_back(group);
    }

    /// An ACK came for a group: its size is too large if its first round is not even sent.
    fn early_ack(&mut self, now: Time, id: u64) {
        let Some(group) = self.get(id) else { return };
        let complete = group.sent[0] + group.sent[1] >= group.sources + group.coded;
        if !group.first_round_unanswered() || complete {
            return;
        }
        let (sources, all) = (f64::from(group.sources), f64::from(group.sources + group.coded));
        let took = now.since(group.first_at).as_secs_f64() * sources / all;
        let too_many = self.next_sources >= group.sources;
        if took <= self.duration {
            self.duration = took;
        } else {
            self.duration += DURATION_GAIN * (took - self.duration);
        }
        if too_many {
            self.next_sources = (self.next_sources - 1).max(1);
            self.quiet_groups = 0;
        }
    }

    /// All packets of a round are sent.
    pub fn round_sent(&mut self, now: Time, id: u64, sent: Moment) {
        self.ends.push_back(RoundEnd { group: id, sent, observed: 0 });
        let Some(group) = self.get(id) else { return };
        if !group.first_round_unanswered() {
            return;
        }
        let packets = group.sources + group.coded;
        let took = now.since(group.first_at).as_secs_f64();
        let measured = (packets > 1 && !group.forced).then(|| took / f64::from(packets - 1));
        self.quiet_groups += 1;
        if self.quiet_groups >= PATIENCE {
            self.next_sources = (self.next_sources + 1).min(MAX_SOURCES);
            self.quiet_groups = 0;
        }
        if let Some(gap) = measured {
            self.gap = Some(self.gap.map_or(gap, |old| old + GAP_GAIN * (gap - old)));
        }
    }
}

impl<P: Payload> Sender<P> {
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

    /// Forgets groups whose packets are all done with.
    #[inline(never)]
    pub(super) fn forget_groups(&mut self, base: u64) {
        let Some(groups) = &mut self.groups else { return };
        let open = groups.open();
        while groups.first < open
            && groups.groups.front().is_some_and(|group| {
                let (sources, coded) = (group.sources, group.coded);
                group.packets.len() >= usize::from(sources + coded)
                    && group.packets.iter().all(|(seq, _)| *seq < base)
            })
        {
            groups.groups.pop_front();
            groups.first += 1;
        }
    }

    /// Begins anew, after an outage.
    pub(super) fn restart_groups(&mut self) {
        let Some(groups) = &mut self.groups else { return };
        for group in &mut groups.groups {
            group.round = OUT_OF_ROUNDS;
        }
        groups.index = 0;
        groups.force_at = None;
        groups.fresh.clear();
        groups.ends.clear();
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
