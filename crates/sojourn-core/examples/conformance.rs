//! Writes the documentation's page of the conformance suite to standard output.
//!
//! ```sh
//! make conformance
//! ```

#[path = "../tests/all/conformance/exceptions.rs"]
mod exceptions;

use sojourn_core::catalogue::builtin;
use sojourn_core::conformance::controls::CHECKS;
use sojourn_core::conformance::{Check, measure};
use sojourn_core::spec::Cca;

const HEAD: &str = "\
# Conformance of the congestion controls

Written by `make conformance`; do not edit.

Every registered control, with its default parameters and the `linux-6` stack, runs through the
same scenarios: a bottleneck of 20 Mbit/s with a buffer of one bandwidth-delay product, a round
trip of 40 ms, delayed ACKs. Controls that need marks run over a queue that gives them: DualPI2
(L4S), Cake (SCE), a step threshold of 3 ms (DCTCP). The test `conformance` fails if a control
misses a requirement without being listed as an exception below, or meets one that it is listed
for. Exceptions are *in italics*.
";

fn cell(check: &Check, control: &str, value: f64) -> String {
    let text = format!("{value:.2}");
    match exceptions::find(check.name, control) {
        Some(_) => format!("*{text}*"),
        None if !check.holds(value) => format!("**{text}**"),
        None => text,
    }
}

fn main() {
    println!("{HEAD}");
    let controls = builtin().names::<Cca>();
    let columns: Vec<_> = CHECKS.iter().map(|check| measure(check, builtin(), &controls)).collect();
    let names: Vec<_> = CHECKS.iter().map(|check| check.name).collect();
    println!("| control | {} |", names.join(" | "));
    println!("| --- |{}", " ---: |".repeat(CHECKS.len()));
    for (row, control) in controls.iter().enumerate() {
        let cells =
            CHECKS.iter().zip(&columns).map(|(check, column)| cell(check, control, column[row]));
        println!("| {control} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
    println!("\n## What is measured\n");
    for check in CHECKS {
        println!("- **{}**: {}.", check.name, check.legend);
    }
    println!("\n## Exceptions\n");
    for exception in exceptions::EXCEPTIONS {
        println!(
            "- **{}**, {}: {}.",
            exception.checks.join(", "),
            exception.controls.join(", "),
            exception.reason
        );
    }
}
