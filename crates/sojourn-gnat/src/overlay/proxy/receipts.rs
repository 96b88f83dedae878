//! Reports of a receiving proxy to the sending one: the share of a flow's packets that is missing.
//!
//! They cover the flows that are triaged by it: inelastic ones with a deadline. A packet is missing
//! if it arrives late, or has not arrived one deadline after a packet that was sent later. Model:
//! IRON's `ReleaseRecord` of `udp_proxy.cc`, `rrm.cc`, where a service's reordering time takes the
//! place of the latter.

use std::collections::VecDeque;

use sojourn_base::units::{Span, Time};

/// Bytes of a report: IP and UDP headers, port, bytes and packets sent and received, share missing.
pub(crate) const SIZE: u32 = 28 + 2 + 2 * (8 + 4) + 4;
/// Interval of reports.
const INTERVAL: Span = Span::from_millis(100);
/// Weight of a packet, divided by the priority.
const GAIN: f64 = 0.2;
/// After a pause this long nothing is missing: the flow was off. (Three seconds in the program, whose
/// proxies number packets as they admit them; here the hosts' numbers count.)
const PAUSE: Span = Span::from_secs(1);
/// A packet that is this far ahead of all others, or behind, begins anew as well: its host counts
/// from elsewhere.
const FARTHEST: u32 = 1 << 16;
/// Largest number of packets that are waited for.
const MOST_AWAITED: usize = 1_000;

/// A flow that reports cover.
#[derive(Clone, Debug)]
struct Receipt {
    flow: u32,
    from: u16,
    gain: f64,
    deadline: Span,
    next: u32,
    /// Packets before `next` that have not come, and until when they may.
    awaited: VecDeque<(u32, Time)>,
    missing: f64,
    came_at: Option<Time>,
}

impl Receipt {
    fn count(&mut self, is_missing: bool) {
        self.missing += self.gain * (f64::from(u8::from(is_missing)) - self.missing);
    }

    /// Nothing is awaited any longer that had to be here by now.
    fn give_up(&mut self, now: Time) {
        while self.awaited.len() > MOST_AWAITED
            || self.awaited.front().is_some_and(|(_, until)| *until < now)
        {
            self.awaited.pop_front();
            self.count(true);
        }
    }
}

/// A report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Report {
    /// The flow.
    pub flow: u32,
    /// The member where it begins.
    pub from: u16,
    /// Up to which packet.
    pub next: u32,
    /// The share that is missing, in per cent.
    pub percent: u16,
}

/// Reports of a node on the flows that end there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receipts {
    flows: Vec<Receipt>,
    report_at: Option<Time>,
}

impl Receipts {
    /// Adds a flow from a member, with its priority and deadline; returns its number here.
    pub(crate) fn add(&mut self, flow: u32, from: u16, priority: f64, deadline: Span) -> usize {
        self.flows.push(Receipt {
            flow,
            from,
            gain: (GAIN / priority).min(1.0),
            deadline,
            next: 0,
            awaited: VecDeque::new(),
            missing: 0.0,
            came_at: None,
        });
        self.flows.len() - 1
    }

    /// A flow that is covered already, or is from now on, has this priority and deadline; its number
    /// here.
    pub(crate) fn set(
        &mut self,
        known: Option<usize>,
        flow: u32,
        from: u16,
        priority: f64,
        deadline: Span,
    ) -> usize {
        // One that was covered once has its number still.
        let known = known.or_else(|| self.flows.iter().position(|receipt| receipt.flow == flow));
        let Some(number) = known else { return self.add(flow, from, priority, deadline) };
        let receipt = &mut self.flows[number];
        (receipt.gain, receipt.deadline) = ((GAIN / priority).min(1.0), deadline);
        number
    }

    /// A packet of a flow has come; `late` says whether after its time.
    pub(crate) fn on_packet(&mut self, now: Time, flow: usize, seq: u32, late: bool) {
        let receipt = &mut self.flows[flow];
        let paused = receipt.came_at.is_none_or(|at| now.since(at) > PAUSE);
        // Numbers wrap.
        let mut ahead = seq.wrapping_sub(receipt.next).cast_signed();
        if paused || ahead.unsigned_abs() > FARTHEST {
            receipt.awaited.clear();
            (receipt.next, receipt.missing, ahead) = (seq, 0.0, 0);
        }
        receipt.came_at = Some(now);
        receipt.give_up(now);
        if ahead < 0 {
            let place = receipt.awaited.iter().position(|(awaited, _)| *awaited == seq);
            if let Some(place) = place {
                receipt.awaited.remove(place);
                receipt.count(late);
            }
            return;
        }
        let until = now + receipt.deadline;
        let first = receipt.next;
        let skipped = (0..ahead.cast_unsigned()).map(|place| (first.wrapping_add(place), until));
        receipt.awaited.extend(skipped);
        receipt.next = seq.wrapping_add(1);
        receipt.count(late);
        self.report_at.get_or_insert(now + INTERVAL);
    }

    /// When reports are due.
    pub(crate) fn next(&self) -> Option<Time> {
        self.report_at
    }

    /// The reports that are due now: of flows that have sent lately, and once that they have not.
    pub(crate) fn due(&mut self, now: Time) -> Vec<Report> {
        if self.report_at.is_none_or(|at| now < at) {
            return Vec::new();
        }
        let mut reports = Vec::new();
        for receipt in &mut self.flows {
            let Some(at) = receipt.came_at else { continue };
            receipt.give_up(now);
            if now.since(at) > PAUSE {
                (receipt.came_at, receipt.missing) = (None, 0.0);
            }
            let Receipt { flow, from, next, missing, .. } = *receipt;
            reports.push(Report { flow, from, next, percent: (100.0 * missing) as u16 });
        }
        let any = self.flows.iter().any(|receipt| receipt.came_at.is_some());
        self.report_at = any.then_some(now + INTERVAL);
        reports
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn missing_and_late_packets_are_reported_until_the_flow_pauses() {
        let mut receipts = Receipts::default();
        assert_eq!(receipts.next(), None);
        let flow = receipts.add(7, 2, 10.0, Span::from_millis(20));
        // Every second packet; then all of them, but late.
        (0..1_000).for_each(|n| receipts.on_packet(at(n), flow, 2 * n as u32, false));
        let report = receipts.due(at(1_000))[0];
        assert_eq!((report.flow, report.from, report.next), (7, 2, 1_999));
        assert!((45..=55).contains(&report.percent), "{} %", report.percent);
        assert_eq!(receipts.due(at(1_050)), [], "not yet");
        (1_000..2_000).for_each(|n| receipts.on_packet(at(n), flow, 1_000 + n as u32, true));
        assert_eq!(receipts.due(at(2_000))[0].percent, 99);
        assert_eq!(receipts.due(at(6_000))[0].percent, 0);
        assert_eq!(receipts.next(), None);
    }

    #[test]
    fn what_is_overtaken_and_comes_in_time_is_not_missing() {
        let mut receipts = Receipts::default();
        let flow = receipts.add(0, 0, 1.0, Span::from_millis(50));
        for n in 0..100_u32 {
            let now = at(n.into());
            receipts.on_packet(now, flow, 2 * n, false);
            if let Some(before) = n.checked_sub(20) {
                receipts.on_packet(now, flow, 2 * before + 1, false);
            }
        }
        assert_eq!(receipts.due(at(100))[0].percent, 0);
    }

    #[test]
    fn a_number_from_elsewhere_is_not_waited_for() {
        let mut receipts = Receipts::default();
        let flow = receipts.add(0, 0, 1.0, Span::from_millis(50));
        for (ms, seq) in [(0, 1), (1, 3_000_000_000), (2, 3_000_000_000), (3, 5)] {
            receipts.on_packet(at(ms), flow, seq, false);
        }
        assert!(receipts.flows[flow].awaited.is_empty());
        assert_eq!(receipts.due(at(200))[0].percent, 0);
    }

    #[test]
    fn numbers_wrap() {
        let mut receipts = Receipts::default();
        let flow = receipts.add(0, 0, 1.0, Span::from_millis(50));
        for (ms, seq) in (0..).zip([u32::MAX - 1, u32::MAX, 1, 0, 3]) {
            receipts.on_packet(at(ms), flow, seq, false);
        }
        let awaited: Vec<_> = receipts.flows[flow].awaited.iter().map(|(seq, _)| *seq).collect();
        assert_eq!(awaited, [2]);
        assert_eq!(receipts.due(at(200))[0].next, 4);
    }
}
