//! The catalogue of this crate's own members, for tests.

use std::sync::LazyLock;

use crate::cc;
use crate::registry::Catalogue;

pub(crate) fn builtin() -> &'static Catalogue {
    static OWN: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::empty().with(cc::members()));
    &OWN
}
