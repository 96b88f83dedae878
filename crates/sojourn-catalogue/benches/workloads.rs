//! Whole runs, such as those of `experiments/speed`: of each file that the command line names, a line
//! with its data packets, events, simulated seconds, processor time in nanoseconds and largest resident
//! memory in kB. `benches/ratios.py` runs each workload in a process of its own and compares them.
#![allow(clippy::disallowed_methods)] // measures itself; the core never reads a clock

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use sojourn_catalogue::builtin;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::Simulation;

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
    let (packets, events) = (total("data_packets"), total("events"));
    let (simulated, memory) = (total("simulated_seconds"), peak_memory().unwrap_or(0.0));
    Ok(format!("{packets} {events} {simulated} {nanoseconds} {memory}"))
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
