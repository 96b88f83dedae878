//! A congestion control that is a BPF program of the kernel (struct_ops).
//!
//! Model: what the kernel does with the program; `object` is the compiled file and `name` the control
//! in it. It has no parameters, and runs live only.

use sojourn_base::error::FieldError;
use sojourn_base::registry::{Catalogue, Entry, Listing};
use sojourn_sim::spec::Cca;
use sojourn_tcp::cc::{CcaFacts, Make};

use super::{canonical, schemas};

/// The entry `bpf`.
pub(crate) fn entry() -> Entry<Cca> {
    let make: Make = |_, _, _| {
        let message = "a BPF program runs in the kernel only: use --backend live";
        Err(FieldError::new("", message))
    };
    Entry {
        listing: Listing {
            name: "bpf",
            source: include_str!("bpf.rs"),
            schema: schemas::bpf,
            canonical: |params, _: &Catalogue| canonical("bpf", params),
        },
        facts: CcaFacts::default(),
        make,
    }
}
