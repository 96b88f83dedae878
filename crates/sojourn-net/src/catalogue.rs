//! Catalogue of this crate's own members, for tests.

use std::sync::LazyLock;

use crate::edge::medium;
use crate::registry::Catalogue;
use crate::{node, queue};

pub(crate) fn builtin() -> &'static Catalogue {
    static OWN: LazyLock<Catalogue> = LazyLock::new(|| {
        let catalogue = Catalogue::empty().with(queue::members());
        catalogue.with(node::members()).with(medium::members())
    });
    &OWN
}
