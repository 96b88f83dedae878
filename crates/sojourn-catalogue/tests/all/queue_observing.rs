//! The observable state of every queue discipline is what its header lists.

use std::collections::BTreeSet;

use serde_json::Map;
use sojourn_base::observe::Observed;
use sojourn_base::packet::{Ecn, FiveTuple, Packet};
use sojourn_base::rng::StreamKey;
use sojourn_base::units::{Rate, Span, Time};
use sojourn_catalogue::builtin;
use sojourn_net::queue::{QueueContext, QueueCounters, QueueDiscipline, QueueInit};
use sojourn_sim::spec::Queue;

const RATE: Rate = Rate::from_bps(10_000_000);

/// Two seconds of three flows that load the queue by half more than it can send, then silence.
fn overload(queue: &mut dyn QueueDiscipline, mut look: impl FnMut(&dyn QueueDiscipline)) {
    let slot = RATE.span_of(1514);
    let mut counters = QueueCounters::default();
    let mut now = Time::ZERO;
    for index in 0..2_000 {
        let mut cx = QueueContext { counters: &mut counters, observer: None };
        for packet in 0..if index < 1_600 { 1 + index % 2 } else { 0 } {
            let flow = (index + packet) % 3;
            let ecn = if flow == 0 { Ecn::NotEct } else { Ecn::Ect0 };
            let tuple = FiveTuple::of_flow(flow);
            let packet = Packet { flow, tuple, index, size: 1500, ecn, ..Packet::default() };
            queue.enqueue(now, Packet { enqueued_at: now, ..packet }, &mut cx);
            look(queue);
        }
        let _sent = queue.dequeue(now, &mut cx);
        look(queue);
        now += slot;
        if queue.next_timer().is_some_and(|timer| timer <= now) {
            queue.on_timer(now, &mut cx);
            look(queue);
        }
    }
}

/// The names that a discipline reports; checks each value.
fn names(discipline: &str) -> BTreeSet<String> {
    let mut init = QueueInit::new(Some(RATE), StreamKey::root(3));
    (init.base_rtt, init.ecn) = (Span::from_millis(40), true);
    let make = builtin().find::<Queue>(discipline).unwrap().make;
    let mut queue = make(&Map::new(), &init, builtin()).unwrap().boxed();
    let mut all = BTreeSet::new();
    overload(&mut *queue, |queue| {
        let mut reading = BTreeSet::new();
        queue.observe(&mut |name, value| {
            assert!(reading.insert(name.to_owned()), "{discipline}: {name} twice");
            if let Observed::Number(value) = value {
                let sound = value.is_finite() && value >= 0.0;
                assert!(sound, "{discipline}: {name} is {value}");
                let share = name.contains("probability");
                assert!(!share || value <= 1.0, "{discipline}: {name} is {value}");
            }
        });
        all.append(&mut reading);
    });
    all
}

#[test]
fn every_discipline_observes_what_its_header_lists() {
    for entry in builtin().members::<Queue>() {
        let name = entry.listing.name;
        let names = names(name);
        assert_eq!(names.is_empty(), name == "fifo", "{name}: {names:?}");
        let page = entry.listing.documentation();
        let (_, listed) = page.split_once("Observes:").unwrap_or_default();
        for observed in names {
            let snake = |c: char| c.is_ascii_lowercase() || c == '_';
            assert!(observed.chars().all(snake), "{name}: {observed} is not in snake case");
            assert!(listed.contains(&format!("`{observed}`")), "{name}: {observed} is not listed");
            let recorded_anyway = ["packets", "bytes"].contains(&observed.as_str());
            assert!(!recorded_anyway, "{name}: {observed} is recorded of every discipline");
        }
    }
}
