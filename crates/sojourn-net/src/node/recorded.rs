//! A node whose state is recorded.

use super::{Node, NodeContext};
use crate::observe::Observer;
use crate::packet::{Backlog, Packet};
use crate::record::live::Watch;
use crate::units::Time;

/// Delegates to a node and records changes of its state.
pub struct RecordedNode {
    inner: Box<dyn Node>,
    watch: Watch,
}

impl RecordedNode {
    /// Records the state of `inner`.
    pub fn new(inner: Box<dyn Node>, watch: Watch) -> Self {
        RecordedNode { inner, watch }
    }

    fn look(&mut self, now: Time) {
        self.watch.look(now, |out| self.inner.observe(out));
    }
}

impl Node for RecordedNode {
    fn on_packet(&mut self, now: Time, from: usize, packet: Packet, cx: &mut NodeContext<'_>) {
        self.inner.on_packet(now, from, packet, cx);
        self.look(now);
    }

    fn next_timer(&self) -> Option<Time> {
        self.inner.next_timer()
    }

    fn on_timer(&mut self, now: Time, cx: &mut NodeContext<'_>) {
        self.inner.on_timer(now, cx);
        self.look(now);
    }

    fn held(&self) -> Backlog {
        self.inner.held()
    }

    fn waiting(&self) -> Backlog {
        self.inner.waiting()
    }

    fn observe(&self, out: &mut Observer<'_>) {
        self.inner.observe(out);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::node::NodeCounters;
    use crate::observe::Observed;
    use crate::record::live::{Batch, Log};
    use crate::spec::Recorded;

    /// Observes of every second packet that it was odd.
    struct Odd(u32);

    impl Node for Odd {
        fn on_packet(&mut self, _: Time, _: usize, packet: Packet, cx: &mut NodeContext<'_>) {
            self.0 += 1;
            cx.forward(packet);
        }

        fn observe(&self, out: &mut Observer<'_>) {
            out("pairs", (self.0 / 2).into());
            if self.0 % 2 == 1 {
                out("phase", Observed::Text("odd"));
            }
        }
    }

    #[test]
    fn changes_are_noted_and_so_is_the_end_of_a_value() {
        let rows = Arc::new(Mutex::new(Vec::new()));
        let writer = rows.clone();
        let sink = move |batch: Batch, words: &[Arc<str>]| {
            let Batch::State(state) = batch else { panic!("no packets are recorded") };
            for row in 0..state.time.len() {
                let word = |number: u32| words[number as usize].to_string();
                let [name, text] = [state.name[row], state.text[row]].map(word);
                writer.lock().unwrap().push(format!("{name} {} {text}", state.value[row]));
            }
        };
        let log = Log::new(&[Recorded::Queue], Box::new(sink));
        let watch = log.watch(Recorded::Queue, "node.odd").unwrap();
        assert!(log.watch(Recorded::Cc, "flow.0.cc").is_none());
        let mut node = RecordedNode::new(Box::new(Odd(0)), watch);
        let (mut counters, mut actions) = (NodeCounters::default(), Vec::new());
        for _ in 0..3 {
            let mut cx = NodeContext { ports: &[], counters: &mut counters, actions: &mut actions };
            node.on_packet(Time::ZERO, 0, Packet::default(), &mut cx);
        }
        log.flush();
        let expected = ["pairs 0 ", "phase NaN odd", "pairs 1 ", "phase NaN ", "phase NaN odd"];
        assert_eq!(*rows.lock().unwrap(), expected);
    }
}
