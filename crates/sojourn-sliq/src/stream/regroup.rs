//! Groups at the receiver: missing source packets are recovered from coded ones.

use std::collections::VecDeque;

use crate::aec::OUT_OF_ROUNDS;
use crate::clock::distance;
use crate::payload::{Payload, Received};
use crate::wire::Fec;

/// Whether a packet was sent after its group's rounds, or by a timeout.
pub(super) fn is_late(round: u8) -> bool {
    round == 0 || round >= OUT_OF_ROUNDS
}

/// Groups that may still be completed, at most.
const GROUPS: usize = 1_024;

#[derive(Clone, Debug)]
struct Group<P> {
    id: u16,
    sources: u8,
    received: Vec<Received<P>>,
    coded: u8,
    in_time: bool,
    done: bool,
}

/// The receiver's groups, the oldest first.
#[derive(Clone, Debug)]
pub(super) struct Regroup<P> {
    groups: VecDeque<Group<P>>,
    /// Packets that it holds, and at most.
    held: usize,
    most: usize,
}

impl<P: Payload> Regroup<P> {
    /// Holds so many packets at most: the oldest groups are given up for later ones.
    pub(super) fn holding(most: usize) -> Self {
        Regroup { groups: VecDeque::new(), held: 0, most }
    }

    fn forget_oldest(&mut self) {
        if let Some(oldest) = self.groups.pop_front() {
            self.held -= oldest.received.len();
        }
    }

    fn group(&mut self, id: u16) -> Option<&mut Group<P>> {
        let ahead = |other: u16| distance(u32::from(id) << 16, u32::from(other) << 16) >> 16;
        let at = self.groups.iter().rposition(|group| ahead(group.id) >= 0);
        if let Some(at) = at.filter(|at| self.groups[*at].id == id) {
            return self.groups.get_mut(at);
        }
        let at = at.map_or(0, |at| at + 1);
        if at == 0 && self.groups.len() == GROUPS {
            return None;
        }
        let (received, sources) = (Vec::new(), 0);
        let group = Group { id, sources, received, coded: 0, in_time: true, done: false };
        self.groups.insert(at, group);
        if self.groups.len() > GROUPS {
            self.forget_oldest();
            return self.groups.get_mut(at - 1);
        }
        self.groups.get_mut(at)
    }

    /// A packet of a group arrived for the first time. Returns the source packets recovered by it,
    /// and whether in time.
    pub(super) fn add(&mut self, seq: u32, fec: &Fec, payload: P) -> Vec<(u32, P, bool)> {
        while self.held >= self.most {
            self.forget_oldest();
        }
        let Some(group) = self.group(fec.group) else { return Vec::new() };
        if group.done || group.received.iter().any(|received| received.index == fec.index) {
            return Vec::new();
        }
        let lengths = fec.encoded.unwrap_or(0);
        group.received.push(Received { index: fec.index, seq, payload, lengths });
        group.in_time &= !is_late(fec.round);
        if fec.encoded.is_some() {
            group.coded += 1;
            group.sources = group.sources.max(fec.sources);
        }
        let enough = group.received.len() >= usize::from(group.sources);
        if group.coded == 0 || group.sources == 0 || !enough {
            self.held += 1;
            return Vec::new();
        }
        group.done = true;
        let received = std::mem::take(&mut group.received);
        let (sources, in_time) = (group.sources, group.in_time);
        self.held -= received.len() - 1;
        let decoded = P::decode(sources, &received).unwrap_or_default();
        decoded.into_iter().map(|(seq, payload)| (seq, payload, in_time)).collect()
    }
}
