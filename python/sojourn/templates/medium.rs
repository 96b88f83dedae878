//! KIND: one sentence that says how stations share it.
//!
//! Model: where it is specified (paper, clause of a standard, source file and version).
//!
//! Say here who may send when, and what is lost; this header is the documentation page. One packet is
//! on it at a time, at `rate`; its channels take turns.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::lanes::{Lanes, Queue};
use super::{MediumInit, Registered};
use crate::edge::{Departure, Medium};
use crate::error::FieldError;
use crate::packet::{Backlog, Packet};
use crate::record::LinkCounters;
use crate::record::histogram::Histogram;
use crate::registry::Catalogue;
use crate::spec::Spec;
use crate::units::{Rate, Time};

/// Parameters of KIND.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Params {
    /// How fast packets are sent.
    pub rate: Rate,
}

impl Default for Params {
    fn default() -> Self {
        Params { rate: Rate::from_bps(100_000_000) }
    }
}

impl crate::registry::Params for Params {}

/// KIND.
pub(super) struct KIND {
    params: Params,
    /// For each channel, what is counted and what waits.
    lanes: Lanes,
    queues: Vec<Queue>,
    /// What is on it: the channel, and when it arrives.
    sending: Option<(usize, Packet, Time)>,
    /// The channel that sent last.
    last: usize,
}

impl Registered for KIND {
    type Params = Params;

    fn new(
        params: Params,
        init: MediumInit<'_>,
        catalogue: &Catalogue,
    ) -> Result<Self, FieldError> {
        let default = Spec::named("fifo");
        let queues =
            init.channels.iter().map(|of| of.queue(None, &default, init.random, catalogue));
        let queues = queues.collect::<Result<_, _>>()?;
        let lanes = Lanes::of(&init.channels);
        Ok(KIND { params, lanes, queues, sending: None, last: 0 })
    }
}

impl KIND {
    /// Takes the next packet, if nothing is on its way.
    fn send(&mut self, now: Time) {
        for turn in 1..=self.queues.len() {
            if self.sending.is_some() {
                return;
            }
            let channel = (self.last + turn) % self.queues.len();
            self.queues[channel].run_timer(now, &mut self.lanes);
            if let Some(packet) = self.queues[channel].dequeue(now, &mut self.lanes) {
                let arrives = now + self.params.rate.span_of(packet.size.into());
                self.sending = Some((channel, packet, arrives));
                self.last = channel;
                return;
            }
        }
    }
}

impl Medium for KIND {
    fn offer(&mut self, now: Time, channel: usize, packet: Packet) {
        let packet = Packet { lane: channel as u8, ..packet };
        self.lanes.offered(&packet);
        self.queues[channel].enqueue(now, packet, &mut self.lanes);
        self.send(now);
    }

    fn poll(&mut self, now: Time) -> Option<(usize, Packet)> {
        self.send(now); // what a queue has held back until now
        let (channel, packet, _) = self.sending.take_if(|(.., arrives)| *arrives <= now)?;
        self.lanes.carried(&packet);
        self.lanes.arrived(&packet);
        self.send(now);
        Some((channel, packet))
    }

    fn departure(&mut self) -> Option<Departure> {
        self.lanes.departure()
    }

    fn next_wakeup(&self) -> Option<Time> {
        match &self.sending {
            Some((.., arrives)) => Some(*arrives),
            None => {
                let holding = self.queues.iter().filter(|queue| !queue.is_empty());
                holding.filter_map(Queue::next_timer).min()
            }
        }
    }

    fn report(&mut self, now: Time, channel: usize) -> LinkCounters {
        self.lanes[channel].report(now)
    }

    fn held(&self, channel: usize) -> Backlog {
        let mut held = self.lanes[channel].waiting();
        match &self.sending {
            Some((of, packet, _)) if *of == channel => held.add(packet),
            _ => {}
        }
        held
    }

    fn sojourn_histogram(&self, channel: usize) -> Option<&Histogram> {
        Some(&self.lanes[channel].sojourn)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{init, packet};
    use super::*;
    use crate::catalogue;

    #[test]
    fn channels_take_turns() {
        let mut medium = KIND::new(Params::default(), init(), catalogue::builtin()).expect("fits");
        for channel in [0, 0, 1] {
            medium.offer(Time::ZERO, channel, packet(1000));
        }
        let mut came = Vec::new();
        while let Some(now) = medium.next_wakeup() {
            let next = std::iter::from_fn(|| medium.poll(now)).map(|(channel, _)| channel);
            came.extend(next.map(|channel| (channel, now.since(Time::ZERO).as_micros())));
        }
        assert_eq!(came, [(0, 80), (1, 160), (0, 240)]);
    }
}
