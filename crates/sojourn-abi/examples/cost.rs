//! Runs one flow at 1 Gbit/s for 2 s, with the control in a shared library or a built-in one, to
//! count instructions per packet:
//!
//! ```sh
//! make -C examples/own-control-c
//! cargo build --release -p sojourn-abi --example cost
//! for control in reno examples/own-control-c/libaimd.so; do
//!     valgrind --tool=callgrind target/release/examples/cost $control
//! done
//! ```

use std::error::Error;
use std::sync::Arc;

use serde_json::json;
use sojourn_catalogue::own;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::Simulation;

fn main() -> Result<(), Box<dyn Error>> {
    let control = std::env::args().nth(1).ok_or("usage: cost LIBRARY.so | CONTROL")?;
    let control = match control.ends_with(".so") {
        true => json!({ "kind": "library", "path": control }),
        false => json!(control),
    };
    let scenario = json!({
        "duration": "2 s",
        "topology": { "kind": "dumbbell", "bottleneck": { "rate": "1 Gbit/s" } },
        "flows": [{ "cca": control, "rtt": "20 ms" }],
    });
    let members = Arc::new(own().with(vec![sojourn_abi::entry()]));
    let outcome = Simulation::new(&Scenario::from_json(&scenario, &members)?)?.run()?;
    let packets = outcome.totals.reals("data_packets").ok_or("no packets")?;
    println!("{} data packets", packets[0]);
    Ok(())
}
