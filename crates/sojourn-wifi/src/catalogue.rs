//! Catalogue of this crate's members and of those of the core, for tests.

use std::sync::{Arc, LazyLock};

use sojourn_base::registry::Catalogue;
use sojourn_sim::catalogue::core;

pub(crate) fn builtin() -> &'static Arc<Catalogue> {
    static OWN: LazyLock<Arc<Catalogue>> = LazyLock::new(|| Arc::new(crate::add(core())));
    &OWN
}
