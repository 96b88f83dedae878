//! Runs a scenario 100 ms at a time and prints its state: the queue, the window, the control's
//! state.
//!
//! ```sh
//! cargo run --release -p sojourn-catalogue --example step -- FILE.toml
//! ```

use sojourn_base::observe::Observed;
use sojourn_base::units::Span;
use sojourn_catalogue::builtin;
use sojourn_sim::{Scenario, Simulation};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: step FILE.toml")?;
    let scenario = Scenario::from_toml(&std::fs::read_to_string(path)?, builtin())?;
    let mut simulation = Simulation::new(&scenario)?;
    while simulation.now() < simulation.end() {
        simulation.advance(simulation.now() + Span::from_millis(100))?;
        let time = simulation.now().as_secs_f64();
        print!("{time:.1} s: {} packets wait", simulation.link(0).queue_packets);
        if let Some(window) = simulation.flow(0).window {
            print!("; window {}", window.cwnd);
        }
        simulation.observe(0, &mut |name, value| match value {
            Observed::Number(number) => print!("; {name} {number}"),
            Observed::Text(text) => print!("; {name} {text}"),
        });
        println!();
    }
    Ok(())
}
