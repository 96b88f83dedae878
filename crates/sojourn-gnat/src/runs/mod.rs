//! Laws of overlays: queues are bounded inside the capacity region and grow outside, shares follow
//! priorities, no packet loops while the network is partitioned, and invalid services are refused.

mod applications;
mod orders;
mod shared;

use crate::catalogue::builtin;
use sojourn_base::counters::FlowCounters;
use sojourn_base::units::{Span, Time};
use sojourn_net::net::Links;
use sojourn_net::record::{Outcome, Table};
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::{Part, Simulation};

/// Overlay nodes 1 to 3 with these links, each its ends and more keys, and flows.
fn scenario(seconds: u32, node: &str, links: &[(&str, &str)], flows: &[String]) -> String {
    let node = |id| format!("{{ id = \"{id}\", kind = \"overlay\", {node} }}");
    let nodes = ["1", "2", "3"].map(node).join(", ");
    let mut text = format!(
        "duration = \"{seconds} s\"\nsample_interval = \"1 s\"\n\
         [topology]\nkind = \"graph\"\nnodes = [{nodes}]\n"
    );
    for (ends, more) in links {
        let (from, to) = ends.split_at(1);
        text += &format!(
            "[[topology.links]]\nid = \"{ends}\"\nfrom = \"{from}\"\nto = \"{to}\"\n\
             rate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nqueue = {{ kind = \"fifo\", limit = \"25 kB\" }}\n\
             {more}\n"
        );
    }
    text + &flows.concat()
}

/// Datagrams between two nodes at `rate` Mbit/s.
fn datagrams(from: u32, to: u32, rate: f64, service: &str) -> String {
    format!(
        "[[flows]]\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = \"udp\"\nmss = 1024\n\
         traffic = {{ kind = \"cbr\", rate = \"{rate} Mbit/s\", size = \"1024 B\" }}\n\
         service = {{ {service} }}\n"
    )
}

fn simulation(text: &str) -> Simulation {
    let scenario = Scenario::from_toml(text, builtin()).unwrap_or_else(|error| panic!("{error}"));
    Simulation::new(&scenario).unwrap()
}

fn run(text: &str) -> Outcome {
    simulation(text).run().unwrap()
}

/// The values of a column in the rows of one flow or link.
fn of(table: &Table, key: &str, which: f64, column: &str) -> Vec<f64> {
    let (keys, values) = (table.reals(key).unwrap(), table.reals(column).unwrap());
    keys.iter().zip(values).filter(|(key, _)| **key == which).map(|(_, value)| value).collect()
}

const TRIANGLE: [(&str, &str); 3] = [("12", ""), ("13", ""), ("32", "")];
/// Parameters with which any load is admitted.
const ALL: &str = "k = 1e18, zombies = false";

/// Delays in seconds after 4 and after 10 seconds, and the share delivered, of a load in Mbit/s.
fn loaded(rate: f64) -> ([f64; 2], f64) {
    let flow = datagrams(1, 2, rate, "ceiling = \"1 Gbit/s\"");
    let Outcome { flow_samples: samples, node_samples, .. } =
        run(&scenario(10, ALL, &TRIANGLE, &[flow]));
    let waiting = of(&node_samples, "node", 0.0, "queue_bytes");
    assert_eq!(waiting[9] > waiting[4] + 1e6, rate > 18.0, "{waiting:?} B at {rate} Mbit/s");
    let column = |name| of(&samples, "flow", 0.0, name);
    let (sums, counts) = (column("one_way_delay_sum"), column("one_way_delay_count"));
    let delivered: f64 = column("delivered_bytes")[4..].iter().sum();
    ([3, 9].map(|at| sums[at] / counts[at]), 8e-6 * delivered / (6.0 * rate))
}

#[test]
fn queues_are_bounded_inside_the_capacity_region_and_grow_outside() {
    // Two paths of 10 Mbit/s, of which 18 Mbit/s remain after headers.
    for rate in [2.0, 9.0, 16.0] {
        let ([early, late], share) = loaded(rate);
        assert!(share > 0.99, "{share} of {rate} Mbit/s");
        assert!(late < early + 0.1 && late < 0.5, "{early} and {late} s at {rate} Mbit/s");
    }
    let ([early, late], share) = loaded(24.0);
    assert!(share < 0.8, "{share}");
    assert!(late > early + 1.0, "{early} and {late} s");
}

#[test]
fn shares_follow_priorities_over_both_paths() {
    let flows =
        [1, 3].map(|p| datagrams(1, 2, 15.0, &format!("priority = {p}, ceiling = \"50 Mbit/s\"")));
    let samples = run(&scenario(12, "k = 1e12", &TRIANGLE, &flows)).flow_samples;
    let got = [0.0, 1.0].map(|flow| {
        let delivered: f64 = of(&samples, "flow", flow, "delivered_bytes")[6..].iter().sum();
        8e-6 * delivered / 6.0
    });
    assert!((got[1] / got[0] - 3.0).abs() < 0.15, "{got:?}");
    assert!((17.0..18.3).contains(&(got[0] + got[1])), "{got:?}");
}

#[test]
fn nothing_strays_while_the_network_is_parted_and_it_rejoins() {
    let outage = "outages = [{ start = \"6 s\", duration = \"8 s\", two_way = true }]";
    let flow = datagrams(1, 3, 5.0, "ceiling = \"50 Mbit/s\"");
    let outcome = run(&scenario(20, "k = 1e11", &[("12", ""), ("23", outage)], &[flow]));
    let got = of(&outcome.flow_samples, "flow", 0.0, "delivered_bytes");
    let sent = of(&outcome.link_samples, "link", 0.0, "sent_bytes");
    let before: f64 = sent[2..6].iter().sum();
    let parted: f64 = sent[10..14].iter().sum();
    assert!(
        parted < 0.1 * before,
        "{parted} B to a node from which no way leads on, {before} B before"
    );
    assert_eq!(got[8..14].iter().sum::<f64>(), 0.0);
    let after: f64 = got[17..].iter().sum();
    assert!(8e-6 * after / 3.0 > 4.9, "{} Mbit/s", 8e-6 * after / 3.0);
}

#[test]
fn services_that_no_overlay_gives_are_refused() {
    let why = |flow: String| {
        let text = scenario(1, "k = 1e12", &TRIANGLE, &[flow]);
        Scenario::from_toml(&text, builtin()).map(|_| ()).unwrap_err().to_string()
    };
    let priority = why(datagrams(1, 2, 1.0, "priority = 0"));
    assert_eq!(priority, "flows.0.service.priority: 0 given; allowed: above 0, up to 1e9");
    let floor = why(datagrams(1, 2, 1.0, "floor = \"1 Mbit/s\""));
    assert!(floor.starts_with("flows.0.service.floor: given without utility flog"), "{floor}");
    let plain = scenario(1, "", &TRIANGLE, &[datagrams(1, 2, 1.0, "priority = 1")]);
    let plain = plain.replace(", kind = \"overlay\", ", "");
    let error = Scenario::from_toml(&plain, builtin()).map(|_| ()).unwrap_err().to_string();
    let expected = "flows.0.service: given, but the flow does not begin and end at overlay nodes";
    assert_eq!(error, expected);
}

/// Fast links, so that regions process many events between two synchronisations, and flows of all
/// kinds.
fn busy() -> String {
    let all = "ceiling = \"1 Gbit/s\"";
    let flows = [
        datagrams(1, 2, 150.0, all),
        datagrams(2, 3, 80.0, "deadline = \"60 ms\", ceiling = \"1 Gbit/s\""),
        "[[flows]]\nfrom = \"3\"\nto = \"1\"\ncca = \"cubic\"\nservice = {}\n".to_owned(),
    ];
    scenario(1, ALL, &TRIANGLE, &flows).replace("10 Mbit/s\"\ndelay", "200 Mbit/s\"\ndelay")
}

#[test]
fn neither_threads_nor_the_length_of_steps_change_a_bit() {
    let text = busy();
    let mut whole = simulation(&text);
    assert_eq!(whole.regions(), 3);
    whole.use_threads(3);
    let whole = whole.run().unwrap();
    let mut steps = simulation(&text);
    while steps.now() < steps.end() {
        steps.advance(steps.now() + Span::from_micros(1_370)).unwrap();
    }
    assert_eq!(format!("{whole:?}"), format!("{:?}", steps.outcome().unwrap()));
    let sent: f64 = whole.link_samples.reals("sent_packets").unwrap().iter().sum();
    assert!(sent > 30_000.0, "{sent}");
}

/// Datagrams in transit between nodes belong to one run only.
#[test]
fn two_runs_of_one_scenario_in_turns_are_alike() {
    let text = busy().replace("duration = \"1 s\"", "duration = \"0.2 s\"");
    let alone = run(&text);
    let sent: f64 = alone.link_samples.reals("sent_packets").unwrap().iter().sum();
    assert!(sent > 100.0, "{sent}");
    let scenario = Scenario::from_toml(&text, builtin()).unwrap();
    let mut runs = [0, 1].map(|_| Simulation::new(&scenario).unwrap());
    while runs[0].now() < runs[0].end() {
        for run in &mut runs {
            run.advance(run.now() + Span::from_millis(7)).unwrap();
        }
    }
    for run in runs {
        assert_eq!(format!("{:?}", run.outcome().unwrap()), format!("{alone:?}"));
    }
}

/// The nodes of a scenario, each by itself.
fn parts(scenario: &Scenario, links: Links) -> Vec<Part> {
    let shared = scenario.gift().unwrap().nodes;
    let part = |node| Part::new(scenario, node, links, &shared).unwrap();
    ["1", "2", "3"].map(part).into()
}

/// Hands over all packets that can be taken.
fn exchange(parts: &mut [Part]) {
    for from in 0..parts.len() {
        for place in 0..parts[from].neighbours().len() {
            let to = usize::from(parts[from].neighbours()[place].node);
            let back = parts[to].neighbours().iter().position(|at| usize::from(at.node) == from);
            while let Some(packet) = parts[from].take(place) {
                parts[to].arrive(back.unwrap(), packet);
            }
        }
    }
}

/// Drives the parts together, up to and including `until`.
fn drive(parts: &mut [Part], until: Time) {
    loop {
        let next = parts.iter_mut().map(Part::next_wakeup).min().unwrap().min(until);
        parts.iter_mut().for_each(|part| part.approach(next).unwrap());
        exchange(parts);
        parts.iter_mut().for_each(|part| part.advance(next).unwrap());
        if next == until && parts.iter_mut().all(|part| part.next_wakeup() > until) {
            break;
        }
    }
}

fn counters(parts: &mut [Part], flow: usize) -> FlowCounters {
    let mut counters = FlowCounters::default();
    parts.iter_mut().for_each(|part| {
        part.report(flow, &mut counters);
    });
    counters
}

#[test]
fn nodes_by_themselves_do_what_they_do_in_the_simulation() {
    let text = include_str!("../../../../reproductions/gnat2021/experiments/3-node-system.toml");
    let text = text.replace("\"60 s\"", "\"24 s\"").replace("\"50 s\"", "\"23 s\"");
    let scenario = Scenario::from_toml(&text, builtin()).unwrap();
    let (mut whole, mut parts) = (simulation(&text), parts(&scenario, Links::Kept));
    for sample in 1..=48 {
        let now = Time::ZERO + Span::from_millis(500 * sample);
        whole.advance(now).unwrap();
        drive(&mut parts, now);
        for flow in 0..3 {
            let expected = format!("{:?}", whole.flow(flow));
            assert_eq!(format!("{:?}", counters(&mut parts, flow)), expected, "at {now:?}");
        }
        parts.iter_mut().for_each(|part| part.check().unwrap());
    }
    let received = (0..3).map(|flow| counters(&mut parts, flow).received.unwrap());
    assert!(received.map(|got| got.delivered_bytes).all(|bytes| bytes > 1_000_000));
}

#[test]
fn what_is_outside_takes_packets_at_once() {
    let text = scenario(3, "", &TRIANGLE, &[datagrams(1, 2, 5.0, "")]);
    let mut parts = parts(&Scenario::from_toml(&text, builtin()).unwrap(), Links::Outside);
    for millisecond in 1..3_000 {
        let now = Time::ZERO + Span::from_millis(millisecond);
        parts.iter_mut().for_each(|part| part.approach(now).unwrap());
        exchange(&mut parts);
        parts.iter_mut().for_each(|part| part.advance(now).unwrap());
    }
    let received = counters(&mut parts, 0).received.unwrap().delivered_bytes;
    assert!(received > 1_200_000, "{received}");
    parts.iter_mut().for_each(|part| part.check().unwrap());
}

/// On a busy machine a node's turn comes late: packets that have arrived are still in its links, which drop
/// some, when it offers them others.
#[test]
fn nodes_whose_turns_come_late_go_on() {
    let outage = "outages = [{ start = \"2 s\", duration = \"100 ms\", two_way = true }]";
    let links = TRIANGLE.map(|(ends, _)| (ends, outage));
    let text = scenario(3, "", &links, &[datagrams(1, 2, 5.0, "")]);
    let mut parts = parts(&Scenario::from_toml(&text, builtin()).unwrap(), Links::Kept);
    for turn in 1..100 {
        let now = Time::ZERO + Span::from_millis(30 * turn);
        parts.iter_mut().for_each(|part| part.approach(now).unwrap());
        exchange(&mut parts);
        parts.iter_mut().for_each(|part| part.advance(now).unwrap());
    }
    assert!(counters(&mut parts, 0).received.unwrap().delivered_bytes > 100_000);
    parts.iter_mut().for_each(|part| part.check().unwrap());
}

#[test]
fn nodes_that_cannot_run_by_themselves_are_refused() {
    let why = |text: &str, node: &str| {
        let scenario = Scenario::from_toml(text, builtin()).unwrap();
        Part::new(&scenario, node, Links::Kept, &Default::default()).map(|_| ()).unwrap_err()
    };
    let text = scenario(1, "", &TRIANGLE, &[datagrams(1, 2, 5.0, "")]);
    assert_eq!(why(&text, "4").field, "node");
    let plain = text.replace("service = {  }", "");
    let error = why(&plain, "1").to_string();
    assert!(error.starts_with("flows.0: passes 12 without a service"), "{error}");
}
