//! Whole runs, such as those of `experiments/speed`: of each file that the command line names, a line
//! with its data packets, events, simulated seconds, processor time in nanoseconds, largest resident
//! memory in kB and packets that links have carried. `benches/ratios.py` runs each workload in a process of its own and compares them.
#![allow(clippy::disallowed_methods)] // measures itself; the core never reads a clock

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use sojourn_catalogue::builtin;
use sojourn_net::Outcome;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::Simulation;

/// Payload of a full segment in the workloads, bytes.
const SEGMENT: f64 = 1448.0;

fn main() -> Result<(), Box<dyn Error>> {
    for file in std::env::args().skip(1).filter(|argument| argument != "--bench") {
        println!("{}", run(Path::new(&file))?);
    }
    Ok(())
}

/// What a run of a file cost. The time on the processor covers building the network and gathering the
/// columns; memory is zero where the system does not report it.
fn run(file: &Path) -> Result<String, Box<dyn Error>> {
    let text = std::fs::read_to_string(file)?;
    let (wall, before) = (Instant::now(), processor_time());
    let outcome = Simulation::new(&Scenario::from_toml(&text, builtin())?)?.run()?;
    let nanoseconds = match (before, processor_time()) {
        (Some(before), Some(after)) => after - before,
        _ => wall.elapsed().as_nanos() as f64,
    };
    let total = |name| outcome.totals.reals(name).map_or(f64::NAN, |values| values[0]);
    let (packets, events) = (data_packets(&outcome), total("events"));
    let (simulated, memory) = (total("simulated_seconds"), peak_memory().unwrap_or(0.0));
    let on_links: f64 = outcome.link_samples.reals("sent_packets").into_iter().flatten().sum();
    Ok(format!("{packets} {events} {simulated} {nanoseconds} {memory} {on_links}"))
}

/// Data packets that arrived at flows, and those of transfers that have ended.
fn data_packets(outcome: &Outcome) -> f64 {
    let flows: f64 = outcome.totals.reals("data_packets").into_iter().flatten().sum();
    let Some(transfers) = &outcome.transfers else { return flows };
    let column = |name: &str| transfers.reals(name).unwrap_or_default();
    let ended =
        column("size").into_iter().zip(column("completed")).filter(|(_, end)| !end.is_nan());
    flows + ended.map(|(size, _)| (size / SEGMENT).ceil()).sum::<f64>()
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
