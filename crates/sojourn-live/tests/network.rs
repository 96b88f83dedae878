//! The core's network has the same effects on real packets: each queue discipline, impairment,
//! schedule and traffic model for two seconds, several at a time. Skipped, with the reason, where a
//! machine does not allow live runs.
#![cfg(target_os = "linux")]

mod needs;

use std::ops::Range;
use std::thread;

use needs::needs;
use sojourn_base::error::FieldError;
use sojourn_catalogue::builtin;
use sojourn_live::{Error, Live};
use sojourn_net::record::Outcome;
use sojourn_sim::scenario::Scenario;

const ANY: Range<f64> = 0.0..f64::INFINITY;
const SOME: Range<f64> = 1.0..f64::INFINITY;

/// Keys of the bottleneck and of the flow, and the range of the sum of a column.
struct Case {
    bottleneck: &'static str,
    flow: &'static str,
    column: &'static str,
    sum: Range<f64>,
    /// Delivered Mbit/s.
    delivered: Range<f64>,
}

const fn case(
    bottleneck: &'static str,
    flow: &'static str,
    column: &'static str,
    sum: Range<f64>,
    delivered: Range<f64>,
) -> Case {
    Case { bottleneck, flow, column, sum, delivered }
}

/// The outcome of a run, or the reason why this machine allows none.
fn run(case: &Case) -> Result<Outcome, FieldError> {
    let rate = if case.bottleneck.contains("rate_schedule") || case.bottleneck.contains("trace") {
        ""
    } else {
        "rate = \"10 Mbit/s\""
    };
    let text = format!(
        "duration = \"2 s\"\n[topology]\nkind = \"dumbbell\"\n[topology.bottleneck]\n{rate}\n{}\n\
         [[flows]]\nrtt = \"20 ms\"\n{}\n",
        case.bottleneck, case.flow
    );
    let scenario =
        Scenario::from_toml(&text, builtin()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    match Live::start(&scenario, None).and_then(Live::finish) {
        Ok((outcome, _)) => Ok(outcome),
        Err(Error::Refused(error)) if error.field == "backend" => Err(error),
        Err(error) => panic!("{error}\n{text}"),
    }
}

fn total(outcome: &Outcome, column: &str) -> f64 {
    let flows = outcome.flow_samples.reals(column);
    flows.or_else(|| outcome.link_samples.reals(column)).unwrap().iter().sum()
}

/// Four at a time, since each also needs processors.
fn all(cases: &[Case]) {
    for some in cases.chunks(4) {
        thread::scope(|threads| {
            let running: Vec<_> =
                some.iter().map(|case| (case, threads.spawn(|| run(case)))).collect();
            for (case, thread) in running {
                let outcome = match thread.join().unwrap() {
                    Ok(outcome) => outcome,
                    Err(error) => return needs("live", &error),
                };
                let (sum, delivered) =
                    (total(&outcome, case.column), total(&outcome, "delivered_bytes") * 4e-6);
                let about = format!("{} {}", case.bottleneck, case.flow);
                assert!(case.sum.contains(&sum), "{about}: {} {sum}", case.column);
                assert!(case.delivered.contains(&delivered), "{about}: {delivered} Mbit/s");
            }
        });
    }
}

#[test]
fn every_discipline_queues_real_packets() {
    const FULL: Range<f64> = 6.0..9.6;
    const ECN: &str = "cca = \"cubic\"\necn = \"classic\"";
    const CUBIC: &str = "cca = \"cubic\"";
    all(&[
        case(
            "queue = { kind = \"fifo\", limit = \"10 packets\" }",
            CUBIC,
            "drops_overflow",
            SOME,
            FULL,
        ),
        case("queue = \"red\"", CUBIC, "sojourn_count", SOME, FULL),
        case("queue = \"codel\"", ECN, "ce_marks", SOME, FULL),
        case("queue = \"fq_codel\"", ECN, "ce_marks", SOME, FULL),
        case("queue = \"pie\"", CUBIC, "sojourn_count", SOME, FULL),
        case("queue = \"fq_pie\"", CUBIC, "sojourn_count", SOME, FULL),
        case("queue = \"cobalt\"", ECN, "ce_marks", SOME, FULL),
        case("queue = \"cake\"", ECN, "ce_marks", SOME, FULL),
        case("queue = \"dualpi2\"", ECN, "ce_marks", SOME, FULL),
    ]);
}

#[test]
fn every_impairment_reaches_real_packets() {
    const CUBIC: &str = "cca = \"cubic\"";
    const ECN: &str = "cca = \"cubic\"\necn = \"classic\"";
    let thinned = "queue = { kind = \"fifo\", limit = \"1 bdp\" }\n[topology.reverse]\n\
                   aggregation = { interval = \"20 ms\", acks_per_flow = 1 }";
    all(&[
        case("loss = \"2 %\"", CUBIC, "drops_loss", SOME, 0.3..9.6),
        case("reverse_loss = \"30 %\"", CUBIC, "drops_loss", SOME, 4.0..9.6),
        case("duplicate = \"5 %\"", CUBIC, "duplicates_received", SOME, 3.0..9.6),
        case(
            "burst_loss = { to_bad = \"0.5 %\", to_good = \"50 %\" }",
            CUBIC,
            "drops_loss",
            SOME,
            0.1..9.6,
        ),
        case("jitter = { spread = \"4 ms\" }", CUBIC, "duplicates_received", ANY, 5.0..9.6),
        case(
            "reorder = { probability = \"3 %\", delay = \"15 ms\" }",
            CUBIC,
            "retransmissions",
            SOME,
            1.0..9.6,
        ),
        case(thinned, CUBIC, "thinned_packets", SOME, 5.0..9.6),
        case("ecn_fault = \"stuck-ce\"", ECN, "ce_received", SOME, 0.05..9.6),
        case(
            "policer = { rate = \"4 Mbit/s\", burst = \"30 kB\" }",
            CUBIC,
            "drops_policed",
            SOME,
            1.0..4.0,
        ),
        case(
            "shaper = { rate = \"4 Mbit/s\", burst = \"5 kB\" }",
            CUBIC,
            "drops_policed",
            0.0..1.0,
            3.0..4.0,
        ),
        case(
            "outages = [{ start = \"500 ms\", duration = \"400 ms\" }]",
            CUBIC,
            "drops_loss",
            SOME,
            1.0..8.0,
        ),
        case("", "cca = \"cubic\"\ndrop = [20, 21]", "drops_loss", 2.0..3.0, 5.0..9.6),
    ]);
}

#[test]
fn every_schedule_and_trace_is_kept() {
    const CUBIC: &str = "cca = \"cubic\"";
    all(&[
        // 10 Mbit/s for half of the time, 2 Mbit/s for the other: at most 6 Mbit/s.
        case(
            "rate_schedule = { kind = \"steps\", steps = [{ at = \"0 s\", value = \"10 Mbit/s\" }, { at = \"1 s\", value = \"2 Mbit/s\" }] }",
            CUBIC,
            "sent_packets",
            SOME,
            3.5..6.0,
        ),
        case(
            "rate_schedule = { kind = \"square\", high = \"10 Mbit/s\", low = \"2 Mbit/s\", period = \"400 ms\" }",
            CUBIC,
            "sent_packets",
            SOME,
            3.0..6.0,
        ),
        case(
            "delay_schedule = { kind = \"steps\", steps = [{ at = \"1 s\", value = \"30 ms\" }] }",
            CUBIC,
            "sent_packets",
            SOME,
            5.0..9.6,
        ),
        case(
            "loss_schedule = { kind = \"steps\", steps = [{ at = \"0 s\", value = \"0 %\" }, { at = \"1 s\", value = \"5 %\" }] }",
            CUBIC,
            "drops_loss",
            SOME,
            1.0..9.6,
        ),
        // A packet every 2 ms: 6.1 Mbit/s with its framing.
        case("trace = { opportunities = [2, 4, 6, 8, 10] }", CUBIC, "sent_packets", SOME, 4.0..5.9),
    ]);
}

#[test]
fn every_traffic_model_writes_to_real_sockets() {
    let of = |traffic, delivered| {
        case(
            "queue = { kind = \"fifo\", limit = \"1 bdp\" }",
            traffic,
            "written_bytes",
            SOME,
            delivered,
        )
    };
    all(&[
        of("cca = \"cubic\"\ntraffic = { kind = \"cbr\", rate = \"2 Mbit/s\" }", 1.9..2.02),
        of(
            "cca = \"reno\"\ntraffic = { kind = \"on-off\", rate = \"4 Mbit/s\", on = \"500 ms\", off = \"500 ms\", times = \"fixed\" }",
            1.5..2.2,
        ),
        of("cca = \"reno\"\ntraffic = { kind = \"poisson\", rate = \"2 Mbit/s\" }", 1.2..2.8),
        of(
            "cca = \"cubic\"\ntraffic = { kind = \"sized\", size = \"100 kB\", repeats = 2 }",
            0.79..0.81,
        ),
        of("transport = \"udp\"\ntraffic = { kind = \"poisson\", rate = \"2 Mbit/s\" }", 1.2..2.8),
    ]);
}
