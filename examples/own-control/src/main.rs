//! The command line of Sojourn, in which the control `aimd` is known like any other.
//!
//! ```sh
//! cargo build --release -p own-control
//! target/release/own-control run examples/own-control/scenario.toml
//! target/release/own-control conformance aimd
//! ```

use std::process::ExitCode;

use sojourn_tcp::cc;

mod aimd;

fn main() -> ExitCode {
    sojourn::command_line(|members| {
        members.add(cc::entry::<aimd::Aimd>("aimd", include_str!("aimd.rs")));
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sojourn_sim::conformance::{controls, failures, subjects};
    use sojourn_tcp::cc;

    use super::aimd::Aimd;

    #[test]
    fn it_conforms() {
        let mut members = sojourn_catalogue::own();
        members.add(cc::entry::<Aimd>("aimd", include_str!("aimd.rs")));
        let aimd = subjects(&Arc::new(members), &["aimd"]);
        assert_eq!(failures(controls::CHECKS, &aimd), Vec::<String>::new());
    }
}
