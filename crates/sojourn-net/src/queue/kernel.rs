//! A queue discipline of a Linux kernel: the kernel's own code, for runs in virtual time.
//!
//! Model: the kernel's `net/sched`, of the version that runs. `name` is the discipline's name for
//! tc(8) and `options` are its options. It needs `--backend kernel`, and tc on the machine.
//!
//! Cake shapes by itself, to the link's rate and overhead unless `options` give others; any other
//! discipline is below a token bucket (`tbf`) with the link's rate and room for one packet. The
//! bucket takes a packet from the discipline and keeps it for its transmission time, so that the
//! link adds no time; only a packet that finds everything idle passes at once. A packet counts as
//! dropped once a later one of its connection has come out before it: the last packets of a
//! connection may stay unknown, and count as waiting.
//!
//! Observes: nothing of its own.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Backlog, Discipline, DropReason, QueueContext, QueueDiscipline, QueueFacts, QueueInit,
};
use crate::error::FieldError;
use crate::packet::{Direction, Packet};
use crate::registry::{self, Entry, Listing};
use crate::spec::Queue;
use crate::units::{Rate, Time};

/// Name of the kind.
pub const KIND: &str = "kernel";

/// Parameters of a kernel's queue discipline.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Name of the discipline for tc(8).
    pub name: String,
    /// Options for tc(8), as on its command line.
    pub options: String,
}

impl Default for Params {
    fn default() -> Self {
        Params { name: "fq_codel".to_owned(), options: String::new() }
    }
}

impl registry::Params for Params {
    fn validate(&self) -> Result<(), FieldError> {
        let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if self.name.is_empty() || !is_name(&self.name) {
            let message = format!(
                "'{}' given; allowed: a name that tc(8) knows, such as fq_codel",
                self.name
            );
            return Err(FieldError::new("name", message));
        }
        if self.name == "netem" {
            let message = "netem given; use the link's own keys instead: delay, loss, jitter, \
                           reorder";
            return Err(FieldError::new("name", message));
        }
        Ok(())
    }
}

/// Configuration of a discipline in the kernel.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Its parameters.
    pub params: Params,
    /// The link's rate.
    pub rate: Rate,
    /// Bytes the link counts on top of each IP packet.
    pub overhead: u32,
    /// Size of the largest IP packet in bytes.
    pub full_packet: u32,
}

impl Wanted {
    /// The configuration of a discipline with these parameters at this place.
    ///
    /// # Errors
    /// If the link has no rate.
    pub fn new(params: Params, init: &QueueInit) -> Result<Self, FieldError> {
        let lacks = || FieldError::new("", "a kernel's discipline needs a link with a rate");
        let rate = init.rate.ok_or_else(lacks)?;
        Ok(Wanted { params, rate, overhead: init.overhead, full_packet: init.full_packet })
    }

    /// Whether the discipline keeps the link's rate itself.
    pub fn shapes(&self) -> bool {
        self.params.name == "cake"
    }

    /// Presumed reason of its drops: overflow for a discipline without a control law.
    fn reason(&self) -> DropReason {
        match self.params.name.as_str() {
            "pfifo" | "bfifo" | "fq" | "sfq" | "tbf" | "htb" => DropReason::Overflow,
            _ => DropReason::Aqm,
        }
    }
}

/// Exchange of packets with a discipline in a kernel.
#[derive(Clone, Debug)]
pub struct Gate {
    /// Configuration of the discipline.
    pub wanted: Wanted,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    next: u16,
    /// Packets not in the kernel yet.
    entering: VecDeque<u16>,
    /// Packets in the kernel, or in transfer to it, by their numbers.
    inside: BTreeMap<u16, Packet>,
    /// Numbers of the same packets for each connection and direction, in order.
    order: HashMap<(u32, Direction), VecDeque<u16>>,
    /// Packets that came back, and whether they were marked.
    left: VecDeque<(Packet, bool)>,
    dropped: Vec<Packet>,
    /// Backlog of all these packets.
    backlog: Backlog,
    /// When the last packet came back, until that has been processed.
    returned: Option<Time>,
}

impl State {
    /// Numbers of the packets of the same connection and direction.
    fn order_of(&mut self, packet: &Packet) -> &mut VecDeque<u16> {
        self.order.entry((packet.flow, packet.direction())).or_default()
    }

    fn enter(&mut self, packet: Packet) {
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        if let Some(lost) = self.inside.remove(&number) {
            self.order_of(&lost).retain(|other| *other != number);
            self.dropped.push(lost); // 65,536 have entered since
        }
        self.backlog.add(&packet);
        self.order_of(&packet).push_back(number);
        self.entering.push_back(number);
        self.inside.insert(number, packet);
    }

    fn leave(&mut self, now: Time, number: u16, marked: bool) -> bool {
        let Some(packet) = self.inside.remove(&number) else { return false };
        while let Some(earlier) = self.order_of(&packet).pop_front().filter(|one| *one != number) {
            self.dropped.extend(self.inside.remove(&earlier));
        }
        if self.order_of(&packet).is_empty() {
            self.order.remove(&(packet.flow, packet.direction()));
        }
        self.left.push_back((packet, marked));
        self.returned = Some(now);
        true
    }
}

impl Gate {
    fn new(wanted: Wanted) -> Self {
        Gate { wanted, state: Arc::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next packet for the kernel, with the number by which it comes back.
    pub fn entering(&self) -> Option<(u16, Packet)> {
        let mut state = self.state();
        let number = state.entering.pop_front()?;
        state.inside.get(&number).map(|packet| (number, *packet))
    }

    /// A packet has come out of the kernel, marked CE or not; returns whether it was inside. The
    /// link's next wake-up has to be read again.
    pub fn leave(&self, now: Time, number: u16, marked: bool) -> bool {
        self.state().leave(now, number, marked)
    }
}

thread_local! {
    static GATES: RefCell<Option<Vec<Gate>>> = const { RefCell::new(None) };
}

/// Runs `build`, which builds links, and returns the gates of the kernel's disciplines among them,
/// in the order in which they were built.
pub fn with_gates<T>(build: impl FnOnce() -> T) -> (T, Vec<Gate>) {
    GATES.set(Some(Vec::new()));
    let built = build();
    (built, GATES.take().unwrap_or_default())
}

/// The entry `kernel`, which is not part of the simulator.
pub fn entry() -> Entry<Queue> {
    Entry {
        listing: Listing::new::<Params>(KIND, include_str!("kernel.rs")),
        facts: QueueFacts { marks: true, reorders: true },
        make: |params, init, catalogue| {
            let wanted = Wanted::new(registry::parse_params(params, catalogue)?, init)?;
            let gate = Gate::new(wanted);
            let noted = GATES.with_borrow_mut(|gates| match gates {
                Some(gates) => {
                    gates.push(gate.clone());
                    true
                }
                None => false,
            });
            if !noted {
                let message = "kernel given: the kernel's own disciplines need --backend kernel";
                return Err(FieldError::new("", message));
            }
            Ok(Discipline::Other(Box::new(KernelQueue { gate })))
        },
    }
}

/// The discipline as a member of its link.
struct KernelQueue {
    gate: Gate,
}

impl QueueDiscipline for KernelQueue {
    fn enqueue(&mut self, _now: Time, packet: Packet, _cx: &mut QueueContext<'_>) {
        self.gate.state().enter(packet);
    }

    fn dequeue(&mut self, now: Time, cx: &mut QueueContext<'_>) -> Option<Packet> {
        let mut state = self.gate.state();
        let (mut packet, marked) = state.left.pop_front()?;
        state.backlog.remove(&packet);
        if marked {
            let _ = cx.mark_ce(now, &mut packet);
        }
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.gate.state().backlog
    }

    fn shapes_link(&self) -> bool {
        true
    }

    fn next_timer(&self) -> Option<Time> {
        self.gate.state().returned
    }

    fn on_timer(&mut self, now: Time, cx: &mut QueueContext<'_>) {
        let mut state = self.gate.state();
        state.returned = None;
        for packet in std::mem::take(&mut state.dropped) {
            state.backlog.remove(&packet);
            cx.drop(now, packet, self.gate.wanted.reason());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Bench, init};
    use super::*;
    use crate::packet::Ecn;

    fn bench(name: &str) -> (Bench<KernelQueue>, Gate) {
        let params = Params { name: name.to_owned(), ..Params::default() };
        let gate = Gate::new(Wanted::new(params, &init()).unwrap());
        (Bench::new(KernelQueue { gate: gate.clone() }), gate)
    }

    /// Numbers of the packets that enter.
    fn enter(gate: &Gate) -> Vec<u16> {
        std::iter::from_fn(|| gate.entering()).map(|(number, _)| number).collect()
    }

    #[test]
    fn what_comes_back_leaves_in_its_order() {
        let (mut bench, gate) = bench("fq_codel");
        for index in 0..3 {
            bench.offer(index, 0, 1000, Ecn::Ect0);
        }
        assert_eq!(enter(&gate), [0, 1, 2]);
        assert!(bench.take().is_none());
        let now = bench.now;
        assert!(gate.leave(now, 2, true) && gate.leave(now, 0, false));
        assert!(!gate.leave(now, 0, false), "it has left");
        assert_eq!(bench.queue.next_timer(), Some(now));
        bench.pause(crate::units::Span::ZERO);
        assert_eq!(bench.queue.next_timer(), None);
        let first = bench.take().unwrap();
        assert_eq!((first.flow, first.ecn), (2, Ecn::Ce));
        assert_eq!(bench.take().unwrap().flow, 0);
        assert_eq!(bench.counters.ce_marks, 1);
        assert_eq!(bench.queue.backlog().packets, 1);
    }

    #[test]
    fn what_is_overtaken_within_its_flow_was_dropped() {
        for (name, reason) in [("codel", DropReason::Aqm), ("pfifo", DropReason::Overflow)] {
            let (mut bench, gate) = bench(name);
            for index in 0..4 {
                bench.offer(index % 2, index, 1000, Ecn::NotEct);
            }
            enter(&gate);
            gate.leave(bench.now, 3, false);
            bench.pause(crate::units::Span::ZERO);
            assert_eq!(bench.counters.drops[reason as usize], 1);
            assert_eq!(bench.queue.backlog().packets, 3);
            assert_eq!(bench.take().unwrap().index, 3);
            assert!(!gate.leave(bench.now, 1, false));
        }
    }

    #[test]
    fn only_a_kernel_has_it() {
        let make = || (entry().make)(&Default::default(), &init(), crate::catalogue::builtin());
        let error = make().map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("--backend kernel"), "{error}");
        let (made, gates) = with_gates(make);
        assert!(made.is_ok());
        assert_eq!(gates.len(), 1);
        assert!(make().is_err());
    }

    #[test]
    fn names_are_those_of_tc() {
        let refused = |name: &str| {
            let params = Params { name: name.to_owned(), ..Params::default() };
            registry::Params::validate(&params).unwrap_err().to_string()
        };
        assert!(refused("netem").contains("the link's own keys"));
        assert!(refused("codel; reboot").contains("a name that tc(8) knows"));
    }
}
