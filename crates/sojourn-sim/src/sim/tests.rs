//! Laws of whole runs: exactness, determinism, independence of random draws, faults.

use std::collections::BTreeMap;

use super::*;
use crate::catalogue::builtin;
use crate::endpoint::Endpoint;
use crate::net::{Alarm, Builder};
use crate::packet::{Address, Header, Packet};
use crate::record::Table;
use crate::units::Span;

/// A dumbbell with these bottleneck keys and flows (each a table's content), for `seconds`.
fn scenario(seconds: u32, bottleneck: &str, flows: &[&str]) -> Scenario {
    let mut text = format!(
        "duration = \"{seconds} s\"\nseed = 7\n\
         [topology]\nkind = \"dumbbell\"\n[topology.bottleneck]\n{bottleneck}\n"
    );
    flows.iter().for_each(|flow| text.push_str(&format!("[[flows]]\n{flow}\n")));
    Scenario::from_toml(&text, builtin()).unwrap()
}

fn run(scenario: &Scenario) -> Outcome {
    Simulation::new(scenario).unwrap().run().unwrap()
}

const CBR: &str = r#"
    transport = "udp"
    rtt = "10 ms"
    traffic = { kind = "cbr", rate = "5 Mbit/s", size = "1000 B" }
"#;

/// The values of `column` in the rows of component `of`.
fn column(table: &Table, key: &str, of: f64, column: &str) -> Vec<f64> {
    let (keys, values) = (table.reals(key).unwrap(), table.reals(column).unwrap());
    keys.iter().zip(values).filter(|(key, _)| **key == of).map(|(_, value)| value).collect()
}

#[test]
fn saturated_link_carries_exactly_its_rate() {
    // 1028 bytes of IP and 22 of framing: 1050 bytes, 500 packets per second.
    let keys = "rate = \"4200 kbit/s\"\noverhead = \"22 B\"\n\
                queue = { kind = \"fifo\", limit = \"20 packets\" }";
    let outcome = run(&scenario(10, keys, &[CBR]));
    let sent = column(&outcome.link_samples, "link", 0.0, "sent_packets");
    assert_eq!(sent.len(), 100);
    assert!(sent[1..].iter().all(|packets| *packets == 50.0), "{sent:?}");
    // The first datagram reaches the bottleneck after half the round trip.
    assert_eq!(sent[0], 47.0);
    let sojourn = outcome.links.reals("sojourn_p50").unwrap()[0];
    assert!((0.038..0.040).contains(&sojourn), "{sojourn}");
}

#[test]
fn programs_are_refused_by_name() {
    let mut document = scenario(1, "rate = \"1 Mbit/s\"", &[CBR]).to_json();
    document["programs"] = serde_json::json!([{ "host": "sender", "command": "true" }]);
    let with_programs = Scenario::from_json(&document, builtin()).unwrap();
    let error = Simulation::new(&with_programs).map(|_| ()).unwrap_err();
    assert_eq!(error.field, "programs");
}

#[test]
fn flows_send_between_start_and_stop() {
    let timed = format!("{CBR}\nstart = \"1 s\"\nstop = \"2 s\"");
    let outcome = run(&scenario(3, "rate = \"100 Mbit/s\"", &[CBR, &timed]));
    let sent = column(&outcome.flow_samples, "flow", 1.0, "sent_packets");
    // The first datagram goes at 1 s, after that instant's sample.
    assert_eq!(sent[..10].iter().sum::<f64>() + sent[20..].iter().sum::<f64>(), 0.0);
    assert_eq!(sent.iter().sum::<f64>(), 625.0);
    assert_eq!(outcome.flows.reals("base_rtt").unwrap(), [0.010, 0.010]);
}

#[test]
fn one_way_delay_is_analytic() {
    let outcome = run(&scenario(1, "rate = \"100 Mbit/s\"\noverhead = \"0 B\"", &[CBR]));
    let sum = column(&outcome.flow_samples, "flow", 0.0, "one_way_delay_sum");
    let count = column(&outcome.flow_samples, "flow", 0.0, "one_way_delay_count");
    let mean = sum.iter().sum::<f64>() / count.iter().sum::<f64>();
    let expected = 0.005 + 1028.0 * 8.0 / 100e6;
    assert!((mean - expected).abs() < 1e-8, "{mean}, not {expected}");
}

/// What a receiver measured of flow 0, by column.
fn measured(outcome: &Outcome, name: &str) -> f64 {
    outcome.flows.reals(name).unwrap()[0]
}

#[test]
fn delays_without_a_queue_are_all_the_same() {
    let outcome = run(&scenario(1, "rate = \"100 Mbit/s\"\noverhead = \"0 B\"", &[CBR]));
    for name in ["arrival_p50", "arrival_p95", "arrival_p99", "delivery_p50", "delivery_p99"] {
        let told = measured(&outcome, name);
        assert!((told - 0.005 - 1028.0 * 8.0 / 100e6).abs() < 2e-9, "{name}: {told}");
    }
    assert!(measured(&outcome, "jitter") < 2e-9);
    assert_eq!(measured(&outcome, "loss_runs"), 0.0);
}

#[test]
fn lost_datagrams_are_told_in_runs() {
    let dropping = format!("{CBR}\ndrop = [0, 7, 8, 20, 21, 22]");
    let outcome = run(&scenario(1, "rate = \"100 Mbit/s\"", &[&dropping]));
    let told = ["lost_packets", "loss_runs", "longest_loss_run"].map(|of| measured(&outcome, of));
    assert_eq!(told, [6.0, 3.0, 3.0]);
}

/// A TCP receiver measures if the flow says so. Whatever is lost is sent again, so that each loss
/// is followed by an arrival that reveals it.
#[test]
fn a_tcp_flow_is_measured_on_request() {
    let tcp = "cca = \"cubic\"\nrtt = \"20 ms\"\n\
               traffic = { kind = \"sized\", size = \"2 MB\" }";
    let keys = "rate = \"20 Mbit/s\"\nloss = \"1 %\"";
    let plain = run(&scenario(10, keys, &[tcp]));
    assert!(measured(&plain, "arrival_p50").is_nan() && measured(&plain, "loss_runs").is_nan());
    let outcome = run(&scenario(10, keys, &[&format!("{tcp}\npacket_metrics = true")]));
    assert_eq!(format!("{:?}", outcome.flow_samples), format!("{:?}", plain.flow_samples));
    assert!(measured(&outcome, "completed_at") < 10.0);
    let dropped: f64 = ["drops_loss", "drops_overflow"]
        .iter()
        .flat_map(|name| column(&outcome.link_samples, "link", 0.0, name))
        .sum();
    assert!(dropped > 5.0);
    assert_eq!(measured(&outcome, "lost_packets"), dropped);
    let [arrival, delivery] = ["arrival_p99", "delivery_p99"].map(|of| measured(&outcome, of));
    assert!(measured(&outcome, "arrival_p50") > 0.010 && delivery > arrival + 0.010);
}

#[test]
fn same_scenario_same_columns() {
    let scenario = scenario(5, "rate = \"8 Mbit/s\"\nloss = \"2 %\"", &[CBR, CBR]);
    let [first, second] = [run(&scenario), run(&scenario)];
    assert_eq!(format!("{first:?}"), format!("{second:?}"));
    let reseeded = scenario.clone().with_seed(8);
    assert_ne!(format!("{first:?}"), format!("{:?}", run(&reseeded)));
}

#[test]
fn an_added_flow_changes_nobody_elses_losses() {
    let keys = "rate = \"1 Gbit/s\"\nloss = \"10 %\"";
    let alone = run(&scenario(5, keys, &[CBR]));
    let joined = run(&scenario(5, keys, &[CBR, CBR, CBR]));
    let delivered =
        |outcome: &Outcome| column(&outcome.flow_samples, "flow", 0.0, "delivered_packets");
    assert_eq!(delivered(&alone), delivered(&joined));
    let total: f64 = delivered(&alone).iter().sum();
    assert!((2700.0..2925.0).contains(&total), "{total} of 3125, a tenth lost");
}

#[test]
fn listed_drops_are_lost() {
    let dropping = format!("{CBR}\ndrop = [0, 7, 8]");
    let outcome = run(&scenario(1, "rate = \"100 Mbit/s\"", &[&dropping]));
    let lost = column(&outcome.link_samples, "link", 0.0, "drops_loss");
    assert_eq!(lost.iter().sum::<f64>(), 3.0);
}

#[test]
fn advancing_in_slices_is_running_at_once() {
    let scenario = scenario(2, "rate = \"8 Mbit/s\"", &[CBR, CBR]);
    let mut sliced = Simulation::new(&scenario).unwrap();
    while sliced.now() < sliced.end() {
        sliced.advance(sliced.now() + Span::from_micros(7_919)).unwrap();
    }
    assert_eq!(format!("{:?}", sliced.outcome().unwrap()), format!("{:?}", run(&scenario)));
}

/// Each column by table and name, told by its bits.
fn columns(tables: impl IntoIterator<Item = (&'static str, Table)>) -> BTreeMap<String, Vec<u64>> {
    let mut columns = BTreeMap::<_, Vec<u64>>::new();
    for (name, table) in tables {
        for column in table.columns {
            let values = column.values.to_reals().into_iter().map(f64::to_bits);
            columns.entry(format!("{name}.{}", column.name)).or_default().extend(values);
        }
    }
    columns
}

#[test]
fn tables_that_stream_out_are_those_of_the_outcome() {
    let tcp = "cca = \"cubic\"\nrtt = \"20 ms\"\nstart = \"300 ms\"";
    let keys = "rate = \"4 Mbit/s\"\nloss = \"1 %\"\n\
                queue = { kind = \"fifo\", limit = \"20 packets\" }";
    let scenario = scenario(3, keys, &[CBR, tcp, CBR]);
    let whole = columns(run(&scenario).into_tables());
    for rows in [1, 7, 90, 1000] {
        let (sender, receiver) = std::sync::mpsc::channel();
        let sink: TableSink = Box::new(move |name, part| sender.send((name, part)).unwrap());
        let chunks = Some(Chunks::of(rows, sink));
        let rest = Simulation::build(&scenario, None, chunks).unwrap().run().unwrap();
        let passed: Vec<_> = receiver.iter().collect();
        let flows = passed.iter().filter(|(name, _)| *name == "flow_samples").count();
        assert_eq!(flows, 90 / rows.next_multiple_of(3), "chunks of {rows}");
        assert_eq!(columns(passed.into_iter().chain(rest.into_tables())), whole);
    }
}

/// An endpoint that answers every packet at once, and one more for each time it is woken.
struct Echo {
    address: Address,
    owed: u32,
    timer: Option<Time>,
}

impl Endpoint for Echo {
    fn on_packet(&mut self, _now: Time, _packet: &Packet) {
        self.owed += 1;
    }
    fn poll_transmit(&mut self, _now: Time) -> Option<Packet> {
        self.owed = self.owed.checked_sub(1)?;
        Some(self.address.packet(0, 40, Header::default()))
    }
    fn next_timeout(&self) -> Option<Time> {
        self.timer
    }
    fn on_timeout(&mut self, _now: Time) {
        self.owed += 1;
    }
    fn report(&mut self, _now: Time, _counters: &mut crate::record::FlowCounters) {}
    fn write(&mut self, _now: Time, _bytes: u64) {
        self.owed += 1;
    }
}

/// Two echoing endpoints without any link between them.
fn echoes(timer: Option<Time>) -> Simulation {
    let one = scenario(1, "rate = \"1 Mbit/s\"", &[CBR]);
    let (mut regions, sampler) = build::parts(&one, None, None).unwrap();
    let (_, hosts) = regions.iter_mut().next().unwrap();
    let applications = std::mem::take(&mut hosts.applications);
    let mut net = Builder::new();
    let route = net.route(&[]).unwrap();
    let echo = |socket| -> Box<dyn Endpoint> {
        let address = Address { route, socket, ..Address::default() };
        Box::new(Echo { address, owed: 0, timer })
    };
    let (endpoints, alarms) = (vec![echo(1), echo(0)], vec![Alarm::default(); 2]);
    let hosts = FlowHosts { declared: 2, arrivals: None, endpoints, applications, alarms };
    let net = net.build();
    let split = net.one_region();
    let regions = Regions::new(net, &split, vec![hosts], false);
    Simulation::of(regions, sampler, Time::ZERO + one.duration)
}

#[test]
fn broken_invariants_end_the_run_with_time_and_component() {
    let endless = echoes(None).run().unwrap_err();
    assert_eq!(endless.time, Time::ZERO);
    assert!(endless.to_string().contains("lets time move on"), "{endless}");
    let stuck = echoes(Some(Time::ZERO)).run().unwrap_err();
    assert!(stuck.component.contains("of flow 0"), "{stuck}");
}

/// Retransmissions of two transfers, the second of which begins when the first has ended.
fn one_after_the_other(keys: &str, second: &str) -> [f64; 2] {
    let flow = "cca = \"reno\"\nrtt = \"40 ms\"\ntraffic = { kind = \"sized\", size = \"3 MB\" }";
    let text = format!(
        "duration = \"9 s\"\n{keys}\n[topology]\nkind = \"dumbbell\"\n[topology.bottleneck]\n\
         rate = \"20 Mbit/s\"\nqueue = {{ kind = \"fifo\", limit = \"30 packets\" }}\n\
         [[flows]]\n{flow}\n[[flows]]\n{flow}\nstart = \"5 s\"\n{second}\n"
    );
    let outcome = run(&Scenario::from_toml(&text, builtin()).unwrap());
    [0.0, 1.0].map(|flow| {
        let sent = column(&outcome.flow_samples, "flow", flow, "retransmissions");
        sent.iter().sum()
    })
}

#[test]
fn what_a_host_remembers_ends_the_next_slow_start() {
    let [first, second] = one_after_the_other("", "");
    assert!(first > 20.0 && (second - first).abs() <= 2.0, "{first}, {second}");
    // The threshold fits the path: no loss where slow start ends.
    let [same, remembered] = one_after_the_other("tcp_metrics = \"all\"", "");
    assert!(same == first && remembered < first / 4.0, "{first}, {remembered}");
    // Another host is not known yet, and Linux by itself stores no threshold.
    let elsewhere = one_after_the_other("tcp_metrics = \"all\"", "to = \"another\"");
    assert_eq!(elsewhere, [first, second]);
    assert_eq!(one_after_the_other("tcp_metrics = \"stack\"", ""), [first, second]);
    let [_, of_its_time] =
        one_after_the_other("tcp_metrics = \"stack\"\nstack = \"linux-5.1\"", "");
    assert!(of_its_time < first / 4.0, "{first}, {of_its_time}");
}
