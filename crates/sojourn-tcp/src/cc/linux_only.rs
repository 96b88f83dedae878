//! Congestion controls of Linux without an implementation in Sojourn: they run only where a kernel
//! does, live or in virtual time.

use super::{CcaFacts, Make};
use crate::error::FieldError;
use crate::registry::{Entry, Listing, NoParams};
use crate::spec::Cca;

/// Names as the kernel has them, and their documentation.
const CONTROLS: [(&str, &str); 3] = [
    (
        "cdg",
        "//! CAIA Delay-Gradient: backs off by chance as the RTT grows; a kernel's only.\n\
         //!\n\
         //! Model: Linux `net/ipv4/tcp_cdg.c` (D. Hayes, G. Armitage, IFIP Networking 2011). It has no\n\
         //! parameters here, and needs `--backend kernel` or `--backend live`.",
    ),
    (
        "lp",
        "//! TCP Low Priority: takes what others leave, by one-way delay; a kernel's only.\n\
         //!\n\
         //! Model: Linux `net/ipv4/tcp_lp.c` (A. Kuzmanovic, E. Knightly, INFOCOM 2003). It has no\n\
         //! parameters here, and needs `--backend kernel` or `--backend live`.",
    ),
    (
        "nv",
        "//! TCP-NV: Vegas for datacentres, from rates instead of RTTs; a kernel's only.\n\
         //!\n\
         //! Model: Linux `net/ipv4/tcp_nv.c` (L. Brakmo, \"TCP-NV: An Update to TCP-Vegas\", 2015). It has\n\
         //! no parameters here, and needs `--backend kernel` or `--backend live`.",
    ),
];

/// Their entries, which are no part of the simulator.
pub fn entries() -> Vec<Entry<Cca>> {
    let make: Make = |_, _, _| {
        let message = "only a kernel has this control: --backend kernel, or --backend live";
        Err(FieldError::new("", message))
    };
    let entry = |(name, source)| Entry {
        listing: Listing::new::<NoParams>(name, source),
        facts: CcaFacts::default(),
        make,
    };
    CONTROLS.into_iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_name_their_sources() {
        for entry in entries() {
            let model = entry.listing.model().unwrap();
            assert!(model.contains(&format!("tcp_{}.c", entry.listing.name)), "{model}");
            assert!(entry.listing.summary().ends_with("a kernel's only."));
        }
    }
}
