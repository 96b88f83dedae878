//! Congestion controls and queue disciplines from shared libraries, through versioned C ABIs
//! (`sojourn_cca.h`, `sojourn_queue.h`; times in nanoseconds, rates in bit/s, windows in segments).
//! It records which callback of a loaded control is running, so that another process can name it
//! after a crash; it does not isolate the library, which runs in this process.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use sojourn_sim::{Scenario, Simulation, catalogue};
//!
//! let members = Arc::new(catalogue::core().with(vec![sojourn_abi::entry()]));
//! let text = r#"
//! duration = "1 s"
//! [topology]
//! kind = "dumbbell"
//! bottleneck = { rate = "10 Mbit/s" }
//! [[flows]]
//! cca = { kind = "library", path = "./libmine.so" }
//! rtt = "20 ms"
//! "#;
//! let outcome = Simulation::new(&Scenario::from_toml(text, &members)?)?.run()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod abi;
pub mod control;
pub mod library;
pub mod note;
pub mod queue;
pub mod queue_abi;
pub mod replay;
pub mod timer;

use serde_json::json;
use sojourn_base::registry::{Entry, Listing};
use sojourn_tcp::cc::CcaFacts;
use sojourn_tcp::spec::Cca;

/// The entry `library`. It loads the library into this process.
pub fn entry() -> Entry<Cca> {
    Entry {
        listing: Listing {
            name: "library",
            source: include_str!("control.rs"),
            schema: || {
                json!({ "type": "object", "properties": { "path": { "type": "string" } },
                        "required": ["path"] })
            },
            canonical: |table, _| library::canonical(table),
        },
        facts: CcaFacts::default(),
        make: |table, init, _| control::make(table, init),
    }
}
