//! The catalogue of this crate's members and of those it depends on, for nodes as programs and
//! for tests.

use std::sync::{Arc, LazyLock};

use sojourn_base::registry::Catalogue;
use sojourn_sim::catalogue::core;

pub(crate) fn builtin() -> &'static Arc<Catalogue> {
    static OWN: LazyLock<Arc<Catalogue>> =
        LazyLock::new(|| Arc::new(crate::add(sojourn_sliq::add(core()))));
    &OWN
}
