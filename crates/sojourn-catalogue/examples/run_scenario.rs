//! Runs a scenario file and prints its totals, goodput per flow, and how fast it ran.
//!
//! ```sh
//! cargo run --release -p sojourn-catalogue --example run_scenario -- FILE.toml
//! ```
#![allow(clippy::disallowed_methods)] // measures itself; the core never reads a clock

use std::time::Instant;

use sojourn_catalogue::builtin;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::Simulation;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: run_scenario FILE.toml")?;
    let scenario = Scenario::from_toml(&std::fs::read_to_string(path)?, builtin())?;
    let simulation = Simulation::new(&scenario)?;
    let started = Instant::now();
    let outcome = simulation.run()?;
    let wall = started.elapsed().as_secs_f64();

    let total = |name| outcome.totals.reals(name).map_or(f64::NAN, |values| values[0]);
    let (seconds, events, packets) =
        (total("simulated_seconds"), total("events"), total("data_packets"));
    let flows = outcome.flow_samples.reals("flow").unwrap_or_default();
    let bytes = outcome.flow_samples.reals("delivered_bytes").unwrap_or_default();
    for flow in 0..scenario.flows_expanded().len().min(10) {
        let own = flows.iter().zip(&bytes).filter(|(id, _)| **id == flow as f64);
        let sum: f64 = own.map(|(_, bytes)| bytes).sum();
        println!("flow {flow}: {:.3} Mbit/s", sum * 8e-6 / seconds);
    }
    println!("{seconds} s simulated in {wall:.3} s");
    println!("{packets} data packets, {:.0} per second", packets / wall);
    println!("{:.2} events and {:.0} ns per packet", events / packets, wall * 1e9 / packets);
    Ok(())
}
