//! Whole runs of `experiments/speed`: cost per packet, events, memory, and how they compare.
//!
//! Each workload runs in a process of its own, several times; the least processor time counts,
//! because whatever else the machine does can only add to it. Nothing passes or fails on time.
#![allow(clippy::disallowed_methods)] // measures itself; the core never reads a clock

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use sojourn_catalogue::builtin;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::Simulation;

const WORKLOADS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/speed");
const REPETITIONS: usize = 5;

/// Workloads to compare by time per packet, and the largest ratio of the first to the second.
const RATIOS: &[(&str, &str, f64)] = &[
    ("loss", "b", 1.5),
    ("bbr", "b", 1.5),
    ("fq-codel", "b", 1.5),
    ("cake", "b", 1.5),
    ("e", "one-flow-1g", 2.0),
    ("rtt-200", "one-flow-1g", 1.3),
];

/// Cost of one run.
#[derive(Clone, Copy)]
struct Cost {
    packets: f64,
    events: f64,
    /// Seconds that were simulated.
    simulated: f64,
    /// Processor time, building the network and gathering the columns included.
    nanoseconds: f64,
    /// Largest resident memory in kB; zero where the system does not report it.
    memory: f64,
}

impl Cost {
    fn per_packet(&self) -> f64 {
        self.nanoseconds / self.packets
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, file, ..] = &arguments[..]
        && flag == "--one"
    {
        let cost = run(Path::new(file))?;
        let Cost { packets, events, simulated, nanoseconds, memory } = cost;
        println!("{packets} {events} {simulated} {nanoseconds} {memory}");
        return Ok(());
    }
    println!(
        "{:12} {:>10} {:>7} {:>7} {:>12} {:>9} {:>7}",
        "workload", "packets", "ns/pkt", "ev/pkt", "packets/s", "x real", "MB"
    );
    let mut costs = BTreeMap::new();
    for file in files()? {
        let cost = measure(&file)?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        print_row(&name, &cost);
        costs.insert(name, cost);
    }
    println!("\n{:26} {:>5} {:>5}", "cost per packet", "ratio", "goal");
    for (one, other, goal) in RATIOS {
        let ratio = costs[*one].per_packet() / costs[*other].per_packet();
        println!("{one:12} / {other:11} {ratio:5.2} {goal:5.2}");
    }
    Ok(())
}

fn print_row(name: &str, cost: &Cost) {
    let Cost { packets, events, simulated, nanoseconds, memory } = *cost;
    let (time, rate) = (cost.per_packet(), 1e9 / cost.per_packet());
    let speed = 1e9 * simulated / nanoseconds;
    let (events, memory) = (events / packets, memory / 1000.0);
    println!(
        "{name:12} {packets:10.0} {time:7.0} {events:7.2} {rate:12.0} {speed:9.1} {memory:7.1}"
    );
}

fn files() -> std::io::Result<Vec<PathBuf>> {
    let entries: Result<Vec<_>, _> = std::fs::read_dir(WORKLOADS)?.collect();
    let mut files: Vec<_> = entries?.iter().map(std::fs::DirEntry::path).collect();
    files.sort();
    Ok(files)
}

/// The cheapest of some runs, each in a process of its own.
fn measure(file: &Path) -> Result<Cost, Box<dyn Error>> {
    let mut best: Option<Cost> = None;
    for _ in 0..REPETITIONS {
        let output = Command::new(std::env::current_exe()?).arg("--one").arg(file).output()?;
        let text = String::from_utf8(output.stdout)?;
        let numbers: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
        let [packets, events, simulated, nanoseconds, memory] = numbers?[..] else {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        };
        let cost = Cost { packets, events, simulated, nanoseconds, memory };
        best = best.filter(|best| best.nanoseconds <= nanoseconds).or(Some(cost));
    }
    best.ok_or_else(|| "no runs".into())
}

fn run(file: &Path) -> Result<Cost, Box<dyn Error>> {
    let text = std::fs::read_to_string(file)?;
    let (wall, before) = (Instant::now(), processor_time());
    let outcome = Simulation::new(&Scenario::from_toml(&text, builtin())?)?.run()?;
    let nanoseconds = match (before, processor_time()) {
        (Some(before), Some(after)) => after - before,
        _ => wall.elapsed().as_nanos() as f64,
    };
    let total = |name| outcome.totals.reals(name).map_or(f64::NAN, |values| values[0]);
    let (packets, events) = (total("data_packets"), total("events"));
    let (simulated, memory) = (total("simulated_seconds"), peak_memory().unwrap_or(0.0));
    Ok(Cost { packets, events, simulated, nanoseconds, memory })
}

/// Nanoseconds on the processor so far; `None` where the system does not report it (Linux does).
fn processor_time() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

fn peak_memory() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
