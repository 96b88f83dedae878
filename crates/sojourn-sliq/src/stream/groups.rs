//! Groups of packets on an adaptive stream, and the packets that each still has to send.

use std::collections::VecDeque;

use super::Target;
use super::packets::Coded;
use crate::aec::{Decider, Decision, MAX_SOURCES, OUT_OF_ROUNDS, Path, Plan};
use crate::clock::Moment;
use crate::lane::Shared;
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
    pub(super) fn round_sent(&self) -> bool {
        self.sent[0] >= self.due[0] && self.sent[1] >= self.due[1]
    }

    fn first_round_unanswered(&self) -> bool {
        !self.arq && self.round == 1 && self.sources_acked + self.coded_acked == 0
    }
}

/// State by which observed packets end a round.
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
    pub index: u8,
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
    pub(super) fn new(probability: f64, target: Target) -> Self {
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

    pub(super) fn mode(&self) -> &'static str {
        self.last.name()
    }

    pub(super) fn get(&self, group: u64) -> Option<&Group> {
        self.groups.get(group.checked_sub(self.first)? as usize)
    }

    pub(super) fn get_mut(&mut self, group: u64) -> Option<&mut Group> {
        self.groups.get_mut(group.checked_sub(self.first)? as usize)
    }

    pub(super) fn open(&self) -> u64 {
        self.first + self.groups.len() as u64 - u64::from(self.index > 0)
    }

    /// The plan of a group that uses the code.
    pub(super) fn plan(&self, group: &Group) -> Option<&'static Plan> {
        let decider = self.decider.as_ref().filter(|_| !group.arq)?;
        Some(decider.plan(group.per, group.rounds, group.sources))
    }

    /// Time that the source packets of a new group may take.
    pub(super) fn patience(&self, packets: u8) -> Span {
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
    pub(super) fn begin(&mut self, now: Time, shared: &Shared, limit: u8) {
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

    /// Discards groups all of whose packets are below `base`.
    pub(super) fn forget(&mut self, base: u64) {
        let open = self.open();
        while self.first < open
            && self.groups.front().is_some_and(|group| {
                group.packets.len() >= usize::from(group.sources + group.coded)
                    && group.packets.iter().all(|(seq, _)| *seq < base)
            })
        {
            self.groups.pop_front();
            self.first += 1;
        }
    }

    /// Restarts after an outage.
    pub(super) fn restart(&mut self) {
        for group in &mut self.groups {
            group.round = OUT_OF_ROUNDS;
        }
        self.index = 0;
        self.force_at = None;
        self.fresh.clear();
        self.ends.clear();
    }

    /// An ACK arrived for a group: groups are too large if its first round is not yet sent.
    pub(super) fn early_ack(&mut self, now: Time, id: u64) {
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
    pub(super) fn round_sent(&mut self, now: Time, id: u64, sent: Moment) {
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
