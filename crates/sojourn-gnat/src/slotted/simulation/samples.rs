//! Collection of results: samples during the run, and sums at its end.

use super::Simulation;
use crate::slotted::nodes;
use crate::slotted::outcome::Outcome;

impl Simulation<'_> {
    /// Adds a sample, which begins anew.
    pub(super) fn sample(&mut self, outcome: &mut Outcome) {
        let seconds = self.sampled.slots as f64 / self.model.slots;
        let mbit = |packets: u64| 1e-6 * self.model.packet_bits * packets as f64 / seconds;
        outcome.times.push(self.slot as f64 / self.model.slots);
        for (rates, count) in outcome.admitted.iter_mut().zip(&mut self.sampled.admitted) {
            rates.push(mbit(std::mem::take(count)));
        }
        for (load, count) in outcome.loads.iter_mut().zip(&mut self.sampled.carried) {
            let overhead = 1.0 + 8.0 * self.model.generation as f64 / self.model.packet_bits;
            load.rates.push(overhead * mbit(std::mem::take(count)));
        }
        for (receiver, row) in self.receivers.iter_mut().flatten().zip(&mut outcome.received) {
            let count = std::mem::take(&mut receiver.arrived);
            let waited = std::mem::take(&mut receiver.waited);
            row.rates.push(mbit(count));
            let delay = 1e3 * waited / (self.model.slots * count as f64);
            row.delays.push((count > 0).then_some(delay));
        }
        let queued =
            outcome.queued.iter_mut().flatten().zip(self.sampled.queued.iter_mut().flatten());
        for (row, sum) in queued {
            row.push(std::mem::take(sum) / self.sampled.slots as f64);
        }
        self.sampled.slots = 0;
    }

    /// Adds what is known at the end.
    pub(super) fn finish(&self, outcome: &mut Outcome) {
        outcome.admitted_packets = self.sources.iter().map(|source| source.admitted).collect();
        for (receiver, row) in self.receivers.iter().flatten().zip(&mut outcome.received) {
            row.packets = receiver.packets;
            row.useless = receiver.useless;
            let waiting = self.all.iter().map(|node| node.queues[row.stream].depths()[row.node]);
            let links = self.links.iter().flat_map(|link| &link.packets);
            let held = links.filter(|packet| {
                !packet.zombie
                    && packet.stream == row.stream
                    && nodes(packet.to).any(|n| n == row.node)
            });
            let under_way = waiting.sum::<f64>() as u64 + held.count() as u64;
            outcome.under_way.push((row.stream, row.node, under_way));
        }
        outcome.signal_bytes = self.sampled.told_bytes / self.sampled.messages.max(1) as f64;
    }
}
