//! Runs a scenario file in which the control `mine` is known, and prints goodputs; `conformance`
//! instead of a file puts the control through the suite.
//!
//! ```sh
//! cargo run --release -p own-control -- examples/own-control/scenario.toml
//! cargo run --release -p own-control -- conformance
//! ```

use std::error::Error;
use std::sync::Arc;

use sojourn_core::conformance::{controls, failures, subjects};
use sojourn_core::spec::toml_to_json;
use sojourn_core::{Catalogue, Scenario, Simulation, catalogue, cc};

mod mine;

/// Sojourn's own members, and the control.
fn members() -> Arc<Catalogue> {
    let mut members = catalogue::own();
    members.add(cc::entry::<mine::Mine>("mine", include_str!("mine.rs")));
    Arc::new(members)
}

/// The goodput of each flow after the warm-up, in Mbit/s.
fn goodputs(file: &str) -> Result<Vec<f64>, Box<dyn Error>> {
    let scenario = Scenario::read(&toml_to_json(file)?, members())?;
    let outcome = Simulation::new(&scenario)?.run()?;
    let column = |name| outcome.flow_samples.reals(name).ok_or("no such column");
    let (times, flows, bytes) = (column("time")?, column("flow")?, column("delivered_bytes")?);
    let warmup = scenario.warmup.as_secs_f64();
    let measured = scenario.duration.as_secs_f64() - warmup;
    let mut goodputs = vec![0.0; scenario.flows_expanded().len()];
    for ((time, flow), bytes) in times.into_iter().zip(flows).zip(bytes) {
        if time > warmup {
            goodputs[flow as usize] += bytes * 8e-6 / measured;
        }
    }
    Ok(goodputs)
}

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("usage: own-control FILE.toml | conformance")?;
    if file == "conformance" {
        let failed = failures(controls::CHECKS, &subjects(&members(), &["mine"]));
        failed.iter().for_each(|line| println!("{line}"));
        return if failed.is_empty() { Ok(()) } else { Err("mine does not conform".into()) };
    }
    for (flow, goodput) in goodputs(&std::fs::read_to_string(file)?)?.iter().enumerate() {
        println!("flow {flow}: {goodput:.2} Mbit/s");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_shares_the_link_of_the_scenario() {
        let goodputs = goodputs(include_str!("../scenario.toml")).unwrap();
        let sum: f64 = goodputs.iter().sum();
        // 1448 of 1514 bytes are payload; the gentler control takes more than Reno.
        assert!((18.0..19.2).contains(&sum), "{goodputs:?}");
        assert!(goodputs[0] > 1.2 * goodputs[1], "{goodputs:?}");
    }

    #[test]
    fn it_conforms() {
        assert_eq!(
            failures(controls::CHECKS, &subjects(&members(), &["mine"])),
            Vec::<String>::new()
        );
    }
}
