//! What packets show of a connection and of the transfers that it carries.

use std::mem;

use sojourn_base::packet::Header;
use sojourn_base::units::{Span, Time};
use sojourn_sim::sim::arrivals::{Counted, End, Row};

use crate::news::Begun;
use crate::observed::Observed;
use crate::wire::Headers;

/// A transfer.
pub(crate) struct Carried {
    begun: Begun,
    /// What the connection had counted before.
    before: Counted,
    /// When its last byte was acknowledged, and what the connection had counted for it then.
    completed: Option<(Time, Counted)>,
}

/// A connection.
pub(crate) struct Shown {
    data: Observed,
    /// The same of requests, which go the other way, if there are any.
    asked: Option<Box<Observed>>,
    carried: Vec<Carried>,
}

impl Shown {
    /// A connection of which nothing has been seen.
    pub(crate) fn new(asks: bool) -> Self {
        let (data, carried) = Default::default();
        Shown { data, asked: asks.then(Box::default), carried }
    }

    /// A transfer begins.
    pub(crate) fn carry(&mut self, begun: Begun) {
        let before = self.counted();
        self.carried.push(Carried { begun, before, completed: None });
    }

    /// Where a transfer ends is known.
    pub(crate) fn written(&mut self, number: u32, ends: u64) {
        let found = self.carried.iter_mut().find(|carried| carried.begun.number == number);
        if let Some(carried) = found {
            carried.begun.ends = ends;
        }
    }

    /// A packet enters the network at the sender (side 0) or at the receiver: returns the header that
    /// the network may read.
    pub(crate) fn enters(&mut self, now: Time, side: usize, headers: &Headers) -> Header {
        if let Some(asked) = &mut self.asked {
            asked.enters(now, 1 - side, headers);
        }
        self.data.enters(now, side, headers)
    }

    /// A packet has left the network at the receiver.
    pub(crate) fn received(&mut self, now: Time, headers: &Headers) {
        if let Some(asked) = &mut self.asked {
            asked.acknowledged(now, headers);
        }
        self.data.received(now, headers);
    }

    /// A packet has left the network at the sender: returns the number of transfers that are complete
    /// since.
    pub(crate) fn acknowledged(&mut self, now: Time, headers: &Headers) -> u64 {
        if let Some(asked) = &mut self.asked {
            asked.received(now, headers);
        }
        self.data.acknowledged(now, headers);
        let acked = self.data.acked().0;
        let is_new = |one: &Carried| one.completed.is_none() && one.begun.ends <= acked;
        if !self.carried.iter().any(is_new) {
            return 0;
        }
        let counted = self.counted();
        let mut complete = 0;
        for carried in self.carried.iter_mut().filter(|one| is_new(one)) {
            carried.completed = Some((now, counted.since(&carried.before)));
            complete += 1;
        }
        complete
    }

    /// Payload that has reached the receiver in order.
    pub(crate) fn arrived(&self) -> u64 {
        self.data.counters.received.in_order_bytes
    }

    /// The connection has nothing to do with a transfer any more.
    pub(crate) fn end(&mut self, number: u32) -> Option<Carried> {
        let at = self.carried.iter().position(|carried| carried.begun.number == number)?;
        Some(self.carried.remove(at))
    }

    /// The same with all transfers.
    pub(crate) fn end_all(&mut self) -> Vec<Carried> {
        mem::take(&mut self.carried)
    }

    /// The row of a transfer. What the kernel tells of it are the timeouts, and the connection's smallest
    /// RTT, or zero.
    pub(crate) fn row(&self, carried: &Carried, end: End, timeouts: u64, min_rtt: Span) -> Row {
        let Begun { entry, variant, group, arrival, start, size, ideal, .. } = carried.begun;
        let completed = carried.completed.map(|(at, _)| at);
        let so_far = || self.counted().since(&carried.before);
        let seen = carried.completed.map_or_else(so_far, |(_, counted)| counted);
        let min_rtt = if min_rtt == Span::ZERO { seen.min_rtt } else { min_rtt };
        Row {
            entry: entry.into(),
            variant,
            group,
            arrival,
            start: Some(start),
            completed,
            size,
            ideal,
            counted: Counted { timeouts, min_rtt, ..seen },
            end,
        }
    }

    /// What has been seen so far; what is asked is sent again on the same connection.
    fn counted(&self) -> Counted {
        let mut counters = self.data.counters;
        counters.rtt.min_rtt = self.data.least_rtt().unwrap_or(Span::ZERO);
        if let Some(asked) = &self.asked {
            counters.recovery.retransmissions += asked.counters.recovery.retransmissions;
        }
        Counted::from(&counters.report(true))
    }
}

impl Carried {
    /// Whether its last byte has been acknowledged.
    pub(crate) fn is_complete(&self) -> bool {
        self.completed.is_some()
    }

    /// By what rows are in order: when it was complete, its connection, and its number there.
    pub(crate) fn rank(&self) -> (Time, u32, u32) {
        let at = self.completed.map_or(Time::NEVER, |(at, _)| at);
        (at, self.begun.flow, self.begun.number)
    }
}
