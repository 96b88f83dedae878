//! Whole runs with TCP: laws that hold whatever the control and the queue.

use sojourn_catalogue::builtin;
use sojourn_net::record::{Outcome, Table};
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::Simulation;

fn run(text: &str) -> Outcome {
    Simulation::new(&Scenario::from_toml(text, builtin()).unwrap()).unwrap().run().unwrap()
}

/// The values of `column` in the rows in which `key` is `of`.
fn column(table: &Table, key: &str, of: usize, column: &str) -> Vec<f64> {
    let (keys, values) = (table.reals(key).unwrap(), table.reals(column).unwrap());
    keys.iter().zip(values).filter(|(key, _)| **key == of as f64).map(|(_, v)| v).collect()
}

fn total(table: &Table, key: &str, of: usize, name: &str) -> f64 {
    column(table, key, of, name).iter().sum()
}

fn dumbbell(seconds: u32, bottleneck: &str, flows: &str) -> String {
    format!(
        "duration = \"{seconds} s\"\n[topology]\nkind = \"dumbbell\"\n\
         [topology.bottleneck]\n{bottleneck}\n{flows}"
    )
}

const RENO_AND_CUBIC: &str = r#"
[[flows]]
cca = "reno"
rtt = "15 ms"
[[flows]]
cca = "cubic"
rtt = "15 ms"
start = "37 ms"
"#;

#[test]
fn greedy_flows_fill_the_bottleneck_exactly() {
    let keys = "rate = \"32 Mbit/s\"\nqueue = { kind = \"fifo\", limit = \"80 packets\" }";
    let outcome = run(&dumbbell(15, keys, RENO_AND_CUBIC));
    let sent = column(&outcome.link_samples, "link", 0, "sent_bytes");
    // After the first second the link is never idle: each tenth of a second carries 400,000 bytes,
    // give or take the packet under way at either end.
    let worst = sent[10..].iter().map(|bytes| (bytes - 400_000.0).abs()).fold(0.0, f64::max);
    assert!(worst < 1514.0, "{worst}");
    let goodput: f64 =
        (0..2).map(|flow| total(&outcome.flow_samples, "flow", flow, "delivered_bytes")).sum();
    let share = goodput / 15.0 * 8.0 / 32e6;
    assert!((0.93..1448.0 / 1514.0).contains(&share), "{share}");
    // No packet waits for more than a full queue.
    let longest = outcome.links.reals("sojourn_p99").unwrap()[0];
    assert!(longest <= 80.0 * 1514.0 * 8.0 / 32e6 * 1.02, "{longest}");
}

#[test]
fn same_scenario_same_columns_with_every_control() {
    for control in sojourn_catalogue::builtin().names::<sojourn_sim::spec::Cca>() {
        let keys = "rate = \"20 Mbit/s\"\nqueue = { kind = \"fq-codel\" }\nloss = \"0.1 %\"";
        let flows = format!("[[flows]]\ncca = \"{control}\"\nrtt = \"20 ms\"\ncount = 2");
        let text = dumbbell(3, keys, &flows);
        let [first, second] = [run(&text), run(&text)];
        assert_eq!(format!("{first:?}"), format!("{second:?}"), "{control}");
        assert!(total(&first.flow_samples, "flow", 1, "delivered_bytes") > 0.0, "{control}");
    }
}

#[test]
fn an_added_flow_changes_nobody_elses_losses() {
    // A window that nothing else limits: the flows share a lossy link but no queue.
    let keys = "rate = \"1 Gbit/s\"\nloss = \"1 %\"";
    let one = "[[flows]]\ncca = \"reno\"\nrtt = \"50 ms\"\n";
    let alone = run(&dumbbell(20, keys, one));
    let later = "[[flows]]\ncca = \"reno\"\nrtt = \"50 ms\"\nstart = \"19 s\"\n";
    let joined = run(&dumbbell(20, keys, &format!("{one}{later}")));
    let delivered = |outcome: &Outcome| column(&outcome.flow_samples, "flow", 0, "delivered_bytes");
    assert!(total(&alone.flow_samples, "flow", 0, "retransmissions") > 20.0);
    assert_eq!(delivered(&alone)[..190], delivered(&joined)[..190]);
}

/// Mean wait of Poisson datagrams with 4972 bytes of payload on average at 4 Mbit/s (10 ms with
/// headers, load 0.8), in these 10 ms.
fn mean_wait(sizes: &str) -> f64 {
    let keys = "rate = \"4 Mbit/s\"\noverhead = \"0 B\"\n\
                queue = { kind = \"fifo\", limit = \"1000000 packets\" }";
    let flow = format!(
        "[[flows]]\ntransport = \"udp\"\nmss = 65000\ntraffic = {{ kind = \"poisson\", \
         rate = \"3182080 bit/s\", size = \"4972 B\", sizes = \"{sizes}\" }}\n"
    );
    let scenario = dumbbell(30_000, keys, &flow);
    let outcome = run(&format!("sample_interval = \"100 s\"\n{scenario}"));
    let sum = total(&outcome.link_samples, "link", 0, "sojourn_sum");
    sum / total(&outcome.link_samples, "link", 0, "sojourn_count") / 0.010
}

#[test]
fn poisson_datagrams_wait_as_queueing_theory_says() {
    let load = 0.8;
    // Pollaczek and Khinchine, with the second moment of the service time. Headers are constant,
    // so that M/M/1's 2 becomes 1 + the square of the payload's share.
    let payload: f64 = 4972.0 / 5000.0;
    for (sizes, second_moment) in [("fixed", 1.0), ("exponential", 1.0 + payload * payload)] {
        let expected = load * second_moment / (2.0 * (1.0 - load));
        let wait = mean_wait(sizes);
        assert!((wait / expected - 1.0).abs() < 0.02, "{sizes}: {wait}, not {expected}");
    }
}

#[test]
fn flows_have_access_links_of_their_own_rate() {
    let outcome = run(r#"
        duration = "20 s"
        topology = { kind = "dumbbell", bottleneck = { rate = "100 Mbit/s" }, access_rate = "4 Mbit/s" }
        [[flows]]
        cca = "cubic"
        rtt = "30 ms"
        [[flows]]
        cca = "cubic"
        rtt = "60 ms"
        access_rate = "1 Mbit/s"
    "#);
    for (flow, access) in [(0, 4.0), (1, 1.0)] {
        let bytes = column(&outcome.flow_samples, "flow", flow, "delivered_bytes");
        let rate = bytes[50..].iter().sum::<f64>() * 8e-6 / 15.0;
        assert!((rate / (access * 1448.0 / 1514.0) - 1.0).abs() < 0.01, "{flow}: {rate}");
    }
}

/// A dumbbell with a FIFO each way and one flow each way, of different round-trip times.
#[test]
fn acknowledgments_wait_behind_the_data_of_a_congested_reverse_path() {
    let rtt_of_forward_flow = |way_back: &str| {
        let outcome = run(&format!(
            r#"
            duration = "20 s"
            [topology]
            kind = "dumbbell"
            bottleneck = {{ rate = "10 Mbit/s" }}
            reverse = {{ rate = "2 Mbit/s", queue = {{ kind = "fifo", limit = "50 packets" }} }}
            [[flows]]
            cca = {{ kind = "fixed-window", window = "5 packets" }}
            ack_every = 1
            rtt = "30 ms"
            [[flows]]
            rtt = "70 ms"
            {way_back}
        "#
        ));
        assert_eq!(outcome.flows.reals("base_rtt").unwrap(), [0.030, 0.070]);
        let sent = column(&outcome.link_samples, "link", 1, "sent_bytes")[50..].iter().sum::<f64>();
        let sum = |name| column(&outcome.flow_samples, "flow", 0, name)[50..].iter().sum::<f64>();
        (sum("rtt_sum") / sum("rtt_count"), sent * 8e-6 / 15.0)
    };
    // Five segments take 6 ms at 10 Mbit/s; acknowledgments of 66 bytes 0.3 ms at 2 Mbit/s.
    let (alone, used) = rtt_of_forward_flow("cca = 'fixed-window'\nstart = '19 s'");
    assert!((0.031..0.037).contains(&alone) && used < 0.6, "{alone} s, {used} Mbit/s");
    // 60 segments the other way: 12 fill the path and 48 wait, for 6 ms each.
    let data = "cca = { kind = 'fixed-window', window = '60 packets' }\ndirection = 'reverse'";
    let (behind, used) = rtt_of_forward_flow(data);
    assert!((0.30..0.33).contains(&behind) && used > 1.99, "{behind} s, {used} Mbit/s");
}

/// The SCE draft's middlebox has Cake on the egress of both ports and half the delay on the ingress
/// of each; the dumbbell has the second half behind Cake.
#[test]
fn a_middlebox_written_as_a_graph_is_the_dumbbell_with_a_queue_each_way() {
    let link = "rate = \"10 Mbit/s\", queue = { kind = \"cake\", isolation = \"flowblind\" }";
    let flow = |more: &str| format!("[[flows]]\ncca = \"cubic\"\nstart = \"1 ms\"\n{more}\n");
    let dumbbell = format!(
        "duration = \"20 s\"\n[topology]\nkind = \"dumbbell\"\nbottleneck = {{ {link} }}\n\
         reverse = {{ {link} }}\n{}{}",
        flow("rtt = \"40 ms\""),
        flow("rtt = \"40 ms\"\nstop = \"9 s\""),
    );
    let one_way = "duplex = false";
    let graph = format!(
        "duration = \"20 s\"\n[topology]\nkind = \"graph\"\nlinks = [\n\
         {{ id = \"in-left\", from = \"left\", to = \"box\", delay = \"20 ms\", {one_way} }},\n\
         {{ id = \"out-right\", from = \"box\", to = \"right\", {link}, {one_way} }},\n\
         {{ id = \"in-right\", from = \"right\", to = \"back\", delay = \"20 ms\", {one_way} }},\n\
         {{ id = \"out-left\", from = \"back\", to = \"left\", {link}, {one_way} }},\n]\n{}{}",
        flow("from = \"left\"\nto = \"right\""),
        flow("from = \"left\"\nto = \"right\"\nstop = \"9 s\""),
    );
    let [dumbbell, graph] = [run(&dumbbell), run(&graph)];
    for flow in 0..2 {
        for name in ["delivered_bytes", "retransmissions", "rtt_sum", "cwnd"] {
            let of = |outcome: &Outcome| column(&outcome.flow_samples, "flow", flow, name);
            assert_eq!(of(&dumbbell), of(&graph), "{name} of flow {flow}");
        }
        assert!(total(&graph.flow_samples, "flow", flow, "retransmissions") > 10.0);
    }
}

#[test]
fn an_outage_befalls_one_way_or_both() {
    for two_way in [false, true] {
        let outcome = run(&format!(
            r#"
            duration = "4 s"
            [topology]
            kind = "dumbbell"
            reverse = {{ rate = "10 Mbit/s" }}
            [topology.bottleneck]
            rate = "10 Mbit/s"
            outages = [{{ start = "1 s", duration = "2 s", two_way = {two_way} }}]
            [[flows]]
            transport = "udp"
            traffic = "cbr"
            rtt = "0 ms"
            [[flows]]
            transport = "udp"
            traffic = "cbr"
            rtt = "0 ms"
            direction = "reverse"
        "#
        ));
        let received = |flow| {
            let packets = column(&outcome.flow_samples, "flow", flow, "delivered_packets");
            [0..10, 10..30, 30..40].map(|during| packets[during].iter().sum::<f64>())
        };
        // 1 Mbit/s of 1448 bytes: 86.3 datagrams a second.
        let whole = |[before, within, after]: [f64; 3]| {
            (86.0..=88.0).contains(&before)
                && (171.0..=174.0).contains(&within)
                && (86.0..=88.0).contains(&after)
        };
        let cut = |[before, within, after]: [f64; 3]| {
            (86.0..=88.0).contains(&before) && within <= 1.0 && (85.0..=88.0).contains(&after)
        };
        assert!(cut(received(0)), "two-way {two_way}: {:?}", received(0));
        let other = if two_way { cut(received(1)) } else { whole(received(1)) };
        assert!(other, "two-way {two_way}: {:?}", received(1));
    }
}

#[test]
fn every_hop_of_a_parking_lot_is_shared_in_full() {
    let outcome = run(r#"
        duration = "20 s"
        [topology]
        kind = "parking-lot"
        hops = [{ rate = "10 Mbit/s" }, { rate = "6 Mbit/s" }]
        [[flows]]
        cca = "cubic"
        rtt = "30 ms"
        [[flows]]
        cca = "cubic"
        rtt = "30 ms"
        to = "n1"
        [[flows]]
        cca = "cubic"
        rtt = "30 ms"
        from = "n1"
    "#);
    let rate = |flow: usize| {
        let bytes = column(&outcome.flow_samples, "flow", flow, "delivered_bytes");
        bytes[50..].iter().sum::<f64>() * 8e-6 / 15.0
    };
    let goodput = 1448.0 / 1514.0;
    for (hop, flows) in [(10.0, [0, 1]), (6.0, [0, 2])] {
        let shared = rate(flows[0]) + rate(flows[1]);
        assert!((shared / (hop * goodput) - 1.0).abs() < 0.01, "{hop}: {shared}");
    }
}

#[test]
fn a_stopped_flow_leaves_the_link_to_the_other() {
    let keys = "rate = \"10 Mbit/s\"";
    let flows = "[[flows]]\ncca = \"cubic\"\nrtt = \"20 ms\"\n\
                 [[flows]]\ncca = \"cubic\"\nrtt = \"20 ms\"\nstop = \"5 s\"\n";
    let outcome = run(&dumbbell(10, keys, flows));
    let stopped = column(&outcome.flow_samples, "flow", 1, "sent_packets");
    assert!(stopped[40..50].iter().sum::<f64>() > 10.0);
    assert_eq!(stopped[52..].iter().sum::<f64>(), 0.0);
    let first = column(&outcome.flow_samples, "flow", 0, "delivered_bytes");
    let late = first[80..].iter().sum::<f64>() * 8.0 / 2.0 / 1e6;
    assert!(late > 9.4, "{late} Mbit/s");
}

/// On a stack that leaves pacing to the host's queue, a transport that paces itself needs none.
#[test]
fn a_control_that_only_pacing_bounds_is_paced_by_sliq_itself() {
    let flow = "[[flows]]\nrtt = \"20 ms\"\nstack = \"linux-4.9\"\n\
                cca = { kind = \"fixed-rate\", rate = \"5 Mbit/s\" }\n";
    let sliq = format!("{flow}transport = \"sliq\"\nmss = 1200\n");
    let outcome = run(&dumbbell(5, "rate = \"20 Mbit/s\"", &sliq));
    let rate = total(&outcome.flow_samples, "flow", 0, "sent_bytes") * 8.0 / 5.0;
    assert!((4.5e6..5.5e6).contains(&rate), "{rate}");
    let tcp = dumbbell(5, "rate = \"20 Mbit/s\"", flow);
    assert!(Scenario::from_toml(&tcp, builtin()).is_err());
}

/// Twenty segments: two flights, or one that is sent at once or at a rate, from the eleventh on in bursts
/// of two.
#[test]
fn a_larger_initial_window_saves_a_round_trip_and_pacing_takes_a_part_of_one() {
    for (keys, least, most) in [
        ("", 0.30, 0.31),
        ("initial_window = 20", 0.20, 0.21),
        ("initial_window = 20\npacing = \"off\"", 0.20, 0.21),
        // At the rate of the usual window, with which the SYN-ACK comes.
        ("initial_window = 20\npacing = \"on\"", 0.235, 0.255),
        ("initial_window = 20\npacing = \"2 Mbit/s\"", 0.24, 0.26),
    ] {
        let flow = "[[flows]]\ncca = \"reno\"\nrtt = \"100 ms\"\n\
                    traffic = { kind = \"sized\", size = \"28960 B\" }\n";
        let outcome = run(&dumbbell(1, "rate = \"100 Mbit/s\"", &format!("{flow}{keys}\n")));
        let completed = outcome.flows.reals("completed_at").unwrap()[0];
        assert!((least..most).contains(&completed), "{keys}: {completed} s");
    }
}
