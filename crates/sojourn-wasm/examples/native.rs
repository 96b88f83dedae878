//! The block of a scenario file, as a page gets it, from a native build: to be compared with the page's.
//!
//! ```sh
//! cargo run --release -p sojourn-wasm --example native -- experiments/catalogue/dumbbell.toml > block
//! ```

use std::error::Error;
use std::io::{self, Write};

use sojourn_wasm::Session;

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("give a scenario file")?;
    let mut session = Session::open(&std::fs::read_to_string(file)?).map_err(|r| r.message)?;
    session.advance(f64::INFINITY).map_err(|refusal| refusal.message)?;
    io::stdout().write_all(&session.finish().map_err(|refusal| refusal.message)?)?;
    Ok(())
}
