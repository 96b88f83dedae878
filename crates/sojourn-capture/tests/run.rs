//! What a capture of a run comes to is what the run has counted.

use std::sync::{Arc, Mutex};

use sojourn_base::Span;
use sojourn_capture::{Frames, Imported, Survey};
use sojourn_net::record::live::Batch;
use sojourn_net::record::{Outcome, Table};
use sojourn_sim::{Scenario, Simulation, catalogue};

const SCENARIO: &str = r#"
record = ["pcap"]
duration = "5 s"
topology = { kind = "dumbbell", bottleneck = { rate = "12 Mbit/s", loss = "0.5 %" } }
[[flows]]
cca = "reno"
rtt = "40 ms"
[[flows]]
cca = "cubic"
rtt = "60 ms"
start = "100 ms"
[[flows]]
cca = "bbr"
rtt = "30 ms"
start = "200 ms"
"#;
const FLOWS: usize = 3;

/// A run, and its capture.
fn run() -> (Outcome, Vec<u8>) {
    let scenario = Scenario::from_toml(SCENARIO, &Arc::new(catalogue::core())).unwrap();
    let file = Arc::new(Mutex::new(Vec::new()));
    let written = Arc::clone(&file);
    let sink = move |batch: Batch, _: &[Arc<str>]| {
        if let Batch::Capture(bytes) = batch {
            written.lock().unwrap().extend(bytes);
        }
    };
    let simulation = Simulation::recording(&scenario, Box::new(sink)).unwrap();
    let outcome = simulation.run().unwrap();
    let file = std::mem::take(&mut *file.lock().unwrap());
    (outcome, file)
}

fn import(file: &[u8]) -> Imported {
    let survey = Survey::of(file).unwrap();
    let imported = survey.measure(file, Span::from_millis(100), None).unwrap();
    let told = &imported.told;
    assert_eq!(told.counted + told.left.values().sum::<u64>(), told.frames);
    imported
}

/// A column's sum for each flow.
fn sums(samples: &Table, column: &str) -> [f64; FLOWS] {
    let (flows, values) = (samples.reals("flow").unwrap(), samples.reals(column).unwrap());
    let mut sums = [0.0; FLOWS];
    flows.iter().zip(values).for_each(|(flow, value)| sums[*flow as usize] += value);
    sums
}

/// The packets of one interface as a pcap file, in microseconds or nanoseconds.
fn old(file: &[u8], interface: usize, nanoseconds: bool) -> Vec<u8> {
    let (magic, units) = if nanoseconds { (0xa1b2_3c4d, 1) } else { (0xa1b2_c3d4_u32, 1_000) };
    let mut out = magic.to_le_bytes().to_vec();
    out.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 101, 0, 0, 0]);
    let frames = Frames::open(file).unwrap().map(Result::unwrap);
    for frame in frames.filter(|frame| frame.interface == interface) {
        let time = frame.time.unwrap();
        let (seconds, rest) = (time / 1_000_000_000, time % 1_000_000_000 / units);
        let words = [seconds as u32, rest as u32, frame.bytes.len() as u32, frame.size as u32];
        words.iter().for_each(|word| out.extend(word.to_le_bytes()));
        out.extend(&frame.bytes);
    }
    out
}

#[test]
fn a_capture_of_a_run_gives_its_numbers() {
    let (outcome, file) = run();
    let imported = import(&file);
    assert!(imported.ours && imported.told.damage.is_none());
    let labels: Vec<&str> = imported.flows.iter().map(|flow| &flow.label[..]).collect();
    assert!(labels[1].ends_with(":10001"), "{labels:?}");
    let [ours, theirs] = [&imported.outcome.flow_samples, &outcome.flow_samples];
    for column in ["sent_bytes", "delivered_bytes", "retransmissions", "duplicates_received"] {
        assert_eq!(sums(ours, column), sums(theirs, column), "{column}");
    }
    let mean = |samples: &Table| {
        let [sums, counts] = ["rtt_sum", "rtt_count"].map(|column| sums(samples, column));
        std::array::from_fn::<f64, FLOWS, _>(|flow| sums[flow] / counts[flow])
    };
    for (ours, theirs) in mean(ours).into_iter().zip(mean(theirs)) {
        assert!((ours / theirs - 1.0).abs() < 0.03, "{ours} {theirs}");
    }
    assert!(ours.reals("cwnd").unwrap().iter().all(|cwnd| cwnd.is_nan()));
}

#[test]
fn a_point_at_one_end_tells_what_is_seen_there() {
    let (outcome, file) = run();
    let whole = sums(&outcome.flow_samples, "retransmissions");
    for nanoseconds in [false, true] {
        let imported = import(&old(&file, 0, nanoseconds));
        assert!(!imported.ours);
        assert!(imported.flows.iter().all(|flow| flow.at_sender == Some(true)));
        assert_eq!(sums(&imported.outcome.flow_samples, "retransmissions"), whole);
        let least = imported.flows.iter().map(|flow| flow.rtt.unwrap().as_millis());
        assert!(least.zip([40, 60, 30]).all(|(least, rtt)| (rtt..2 * rtt).contains(&least)));
    }
    let receivers = import(&old(&file, 1, true));
    assert!(receivers.flows.iter().all(|flow| flow.at_sender == Some(false)));
    let samples = &receivers.outcome.flow_samples;
    assert!(samples.reals("srtt").unwrap().iter().all(|rtt| rtt.is_nan()));
    let delivered = sums(&outcome.flow_samples, "delivered_bytes");
    assert_eq!(sums(samples, "delivered_bytes"), delivered);
}

#[test]
fn of_a_file_that_is_cut_off_what_is_whole_is_read() {
    let (_, file) = run();
    let [whole, half] = [&file[..], &file[..file.len() / 2 + 5]].map(import);
    assert!(half.told.damage.is_some_and(|damage| damage.at as usize <= file.len() / 2 + 5));
    assert!(half.told.frames * 2 > whole.told.frames * 9 / 10);
    let sent = |imported: &Imported| sums(&imported.outcome.flow_samples, "sent_bytes")[0];
    assert!(sent(&half) > 0.0 && sent(&half) < sent(&whole));
}
