//! The catalogue of all built-in members (controls, queue disciplines, topologies, ...): those of the
//! core and of the wings SLIQ, GNAT and Wi-Fi. It simulates nothing. A program with other wings, or
//! none, builds its own catalogue.
//!
//! ```
//! use sojourn_catalogue::builtin;
//! use sojourn_sim::spec::{Cca, Transport};
//!
//! assert!(builtin().names::<Cca>().contains(&"bbr3"));
//! assert!(builtin().names::<Transport>().contains(&"sliq"));
//! ```

use std::sync::{Arc, LazyLock};

use sojourn_base::registry::Catalogue;
use sojourn_sim::catalogue::core;

/// Sojourn's own members of every open kind.
pub fn builtin() -> &'static Arc<Catalogue> {
    static BUILTIN: LazyLock<Arc<Catalogue>> = LazyLock::new(|| Arc::new(own()));
    &BUILTIN
}

/// A catalogue with Sojourn's own members, to add others to.
pub fn own() -> Catalogue {
    sojourn_wifi::add(sojourn_sliq::add(sojourn_gnat::add(core())))
}
