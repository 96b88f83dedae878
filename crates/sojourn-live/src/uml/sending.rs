//! Completion of sent frames: the kernel gets a buffer back when the host's link has sent its
//! frame, and not before, so that its small queues and byte limits count packets that wait for a
//! slow link.

use std::collections::BTreeMap;

use sojourn_base::units::{Rate, Time};
use sojourn_sim::scenario::Scenario;
use sojourn_sim::topology::PlannedLink;

/// The ways of a path: there, and back.
const WAYS: usize = 2;

/// A host's link.
struct Sender {
    rate: Rate,
    overhead: u32,
    carry: u64,
    /// When it will have sent all its packets.
    idle: Time,
}

/// Frames being sent, and their links.
pub(super) struct Sending {
    senders: Vec<Sender>,
    /// For each side and path, the first link of its packets, if it takes time to send them.
    first: [Vec<Option<usize>>; WAYS],
    /// Buffers by the time, in the kernel's ns, at which they are given back; with their cards.
    pending: BTreeMap<(u64, u64), (usize, u16)>,
    count: u64,
}

impl Sending {
    /// State of the hosts of a scenario.
    pub(super) fn new(scenario: &Scenario) -> Self {
        let plan = scenario.plan();
        let (mut senders, mut numbers) = (Vec::new(), BTreeMap::new());
        let mut first_of = |links: &[u32]| {
            let link = *links.first()?;
            let sender = sender(&plan.links[link as usize])?;
            Some(*numbers.entry(link).or_insert_with(|| {
                senders.push(sender);
                senders.len() - 1
            }))
        };
        let there = plan.routes.iter().map(|routes| first_of(&routes.forward)).collect();
        let back = plan.routes.iter().map(|routes| first_of(&routes.backward)).collect();
        Sending { senders, first: [there, back], pending: BTreeMap::new(), count: 0 }
    }

    /// Whether there is a link that takes time.
    pub(super) fn takes_time(&self) -> bool {
        !self.senders.is_empty()
    }

    /// Starts to send a packet of this size from this side of a path; a card has it in a buffer.
    /// Returns whether that takes time. The network's clock was at zero when the kernel's was at
    /// `zero`.
    pub(super) fn begin(
        &mut self,
        buffer: (usize, u16),
        (side, path, size): (usize, usize, u32),
        now: Time,
        zero: u64,
    ) -> bool {
        let first = self.first.get(side).and_then(|first| *first.get(path)?);
        let Some(sender) = first.and_then(|first| self.senders.get_mut(first)) else {
            return false;
        };
        let length = size + sender.overhead;
        sender.idle = sender.idle.max(now) + sender.rate.transmission(length, &mut sender.carry);
        self.count += 1;
        self.pending.insert((zero + sender.idle.as_nanos(), self.count), buffer);
        true
    }

    /// When the next frame will have been sent, in the kernel's ns.
    pub(super) fn next(&self) -> Option<u64> {
        self.pending.first_key_value().map(|((time, _), _)| *time)
    }

    /// A card, and the buffer that it has sent by now.
    pub(super) fn sent(&mut self, now: u64) -> Option<(usize, u16)> {
        let first = self.pending.first_entry().filter(|first| first.key().0 <= now)?;
        Some(first.remove())
    }
}

/// State of a host's link, if that has one rate and is not shared.
fn sender(link: &PlannedLink) -> Option<Sender> {
    let spec = &link.spec;
    let varies = spec.trace.is_some() || spec.rate_schedule.is_some() || spec.shaper.is_some();
    let rate = spec.rate.filter(|_| !varies && link.on.is_none())?;
    let overhead = spec.overhead.0 as u32;
    Some(Sender { rate, overhead, carry: 0, idle: Time::ZERO })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sojourn_base::units::Span;
    use sojourn_sim::catalogue;

    use super::*;

    #[test]
    fn a_buffer_comes_back_when_its_side_has_sent_it() {
        let text = "duration = \"1 s\"\n[topology]\nkind = \"dumbbell\"\n\
                    bottleneck = { rate = \"8 Mbit/s\" }\n[[flows]]\ncca = \"reno\"\n\
                    rtt = \"20 ms\"\n[[flows]]\ncca = \"reno\"\nrtt = \"20 ms\"\n\
                    direction = \"reverse\"\naccess_rate = \"4 Mbit/s\"";
        let scenario = Scenario::from_toml(text, &Arc::new(catalogue::core())).unwrap();
        let mut sending = Sending::new(&scenario);
        assert!(sending.takes_time());
        let at = |us| Time::ZERO + Span::from_micros(us);
        let zero = 5_000;
        // With the header that a link adds they have 1,000 bytes. Whatever the card, the first link is that of the side: the access link of a reverse flow's
        // sender, and its way back is the bottleneck.
        assert!(sending.begin((7, 1), (0, 1, 986), at(0), zero));
        assert!(!sending.begin((7, 1), (0, 2, 986), at(0), zero));
        assert_eq!(sending.next(), Some(2_000_000 + zero));
        assert_eq!((sending.sent(2_000_000), sending.sent(2_005_000)), (None, Some((7, 1))));
        assert!(sending.begin((3, 2), (1, 1, 986), at(3_000), zero));
        assert_eq!(sending.sent(4_005_000), Some((3, 2)));
    }
}
