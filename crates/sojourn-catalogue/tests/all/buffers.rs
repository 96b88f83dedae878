//! Socket buffers: `auto` never limits, and a buffer that does is reported as the limit.

use sojourn_catalogue::builtin;
use sojourn_net::record::{Outcome, Table};
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::Simulation;
use sojourn_sim::spec::Cca;

/// Deep buffers, long paths, losses that keep data waiting at the receiver: seconds and bottleneck.
const PATHS: &[(u32, &str, &str)] = &[
    (8, "160 ms", "rate = \"80 Mbit/s\"\nqueue = { kind = \"fifo\", limit = \"2133 packets\" }"),
    (8, "40 ms", "rate = \"50 Mbit/s\"\nqueue = { kind = \"fifo\", limit = \"16 bdp\" }"),
    (4, "200 ms", "rate = \"500 Mbit/s\"\nqueue = { kind = \"fifo\", limit = \"0.5 bdp\" }"),
    (8, "200 ms", "rate = \"100 Mbit/s\"\nloss = \"0.1 %\"\nreverse_loss = \"5 %\""),
];

const LIMITS: [&str; 5] = [
    "limited_by_cwnd",
    "limited_by_pacing",
    "limited_by_receiver",
    "limited_by_send_buffer",
    "limited_by_application",
];

fn run(text: &str) -> Outcome {
    Simulation::new(&Scenario::from_toml(text, builtin()).unwrap()).unwrap().run().unwrap()
}

fn scenario(seconds: u32, rtt: &str, bottleneck: &str, flow: &str) -> String {
    format!(
        "duration = \"{seconds} s\"\n[topology]\nkind = \"dumbbell\"\n[topology.bottleneck]\n\
         {bottleneck}\n[[flows]]\nrtt = \"{rtt}\"\n{flow}\n"
    )
}

fn total(table: &Table, name: &str) -> f64 {
    table.reals(name).unwrap().iter().sum()
}

/// Names of the columns in which two runs differ. Not-a-number equals itself.
fn differences(one: Outcome, other: Outcome) -> Vec<String> {
    let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
    let mut names = vec![];
    for ((table, one), (_, other)) in one.into_tables().into_iter().zip(other.into_tables()) {
        for (a, b) in one.columns.iter().zip(&other.columns) {
            if bits(a.values.to_reals()) != bits(b.values.to_reals()) {
                names.push(format!("{table}.{}", a.name));
            }
        }
    }
    names
}

/// The runs differ only in what the application writes ahead: its amount, and its wait in the
/// buffer.
#[test]
fn auto_is_as_good_as_a_gigabyte_with_every_control() {
    let by_writing = ["flow_samples.written_bytes", "flow_samples.one_way_delay_sum"];
    for control in builtin().names::<Cca>() {
        for (seconds, rtt, bottleneck) in PATHS {
            let case = format!("{control}, {rtt}");
            let flow = format!("cca = \"{control}\"");
            let auto = run(&scenario(*seconds, rtt, bottleneck, &flow));
            let sizes = "\nsend_buffer = \"1 GB\"\nreceive_buffer = \"1 GB\"";
            let large = run(&scenario(*seconds, rtt, bottleneck, &(flow.clone() + sizes)));
            for limit in ["limited_by_receiver", "limited_by_send_buffer"] {
                assert_eq!(total(&auto.flow_samples, limit), 0.0, "{case}: {limit}");
                assert_eq!(total(&large.flow_samples, limit), 0.0, "{case}: {limit} of 1 GB");
            }
            let mut differ = differences(auto, large);
            differ.retain(|name| !by_writing.contains(&name.as_str()));
            assert!(differ.is_empty(), "{case}: {differ:?}");
        }
    }
}

#[test]
fn what_limits_a_run_says_so() {
    let cases = [
        ("limited_by_receiver", "cca = \"cubic\"\nreceive_buffer = \"200 kB\""),
        ("limited_by_send_buffer", "cca = \"cubic\"\nsend_buffer = \"200 kB\""),
        (
            "limited_by_application",
            "cca = \"cubic\"\ntraffic = { kind = \"cbr\", rate = \"1 Mbit/s\" }",
        ),
        ("limited_by_cwnd", "cca = \"cubic\""),
        ("limited_by_pacing", "cca = \"bbr\""),
    ];
    for (limit, flow) in cases {
        let outcome = run(&scenario(6, "100 ms", "rate = \"50 Mbit/s\"", flow));
        let share = total(&outcome.flow_samples, limit) / 5.9;
        assert!(share > 0.8, "{limit}: {share}");
        let all: f64 = LIMITS.iter().map(|limit| total(&outcome.flow_samples, limit)).sum();
        assert!((all - 5.9).abs() < 0.01, "from the handshake on there is one limit: {all} s");
    }
}

/// A stack's own send buffer grows with the window and holds nothing back, until its 4 MB are full.
/// The data that fills up the last buffer is not counted against that, so that it may be more.
#[test]
fn a_send_buffer_that_grows_is_the_limit_at_its_largest() {
    let flow = "cca = \"cubic\"\nsend_buffer = \"stack\"";
    for (rtt, bottleneck, limits) in [
        ("100 ms", "rate = \"50 Mbit/s\"", 0.0..0.01),
        ("200 ms", "rate = \"500 Mbit/s\"", 0.6..1.0),
    ] {
        let outcome = run(&scenario(6, rtt, bottleneck, flow));
        let share = total(&outcome.flow_samples, "limited_by_send_buffer") / 6.0;
        assert!(limits.contains(&share), "{rtt}: {share}");
        let flying = outcome.flow_samples.reals("in_flight").unwrap();
        let most = flying.iter().copied().fold(0.0, f64::max) * 1448.0 / f64::from(4 << 20);
        assert!(most < 2.0, "{rtt}: {most} of the largest");
        assert!(limits.start == 0.0 || most > 0.6, "{rtt}: {most} of the largest");
    }
}

/// A full buffer is not an idle application.
#[test]
fn bbr_leaves_startup_behind_a_send_buffer_that_grows() {
    let path = "rate = \"80 Mbit/s\"\noverhead = \"0 B\"\n\
                queue = { kind = \"fifo\", limit = \"533 packets\" }";
    let outcome = run(&scenario(10, "160 ms", path, "cca = \"bbr\"\nsend_buffer = \"stack\""));
    let again = total(&outcome.flow_samples, "retransmissions");
    assert!(again < 6_000.0, "{again}: 4,810 in Linux 6.12, 11,298 in STARTUP all along");
}
