//! Faults of the ECN field on a path.
//!
//! `bleach` clears it: packets leave as not ECN-capable, marks included. `stuck-ce` sets CE on every
//! ECN-capable packet. `unmark` turns CE back into ECT(0), so that marks never arrive.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::packet::Ecn;

/// A fault of the ECN field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnFault {
    /// Every packet becomes not ECN-capable.
    Bleach,
    /// Every ECN-capable packet becomes CE.
    StuckCe,
    /// CE becomes ECT(0).
    Unmark,
}

impl EcnFault {
    /// The field as it leaves the faulty hop.
    #[inline]
    pub fn apply(self, ecn: Ecn) -> Ecn {
        match (self, ecn) {
            (EcnFault::Bleach, _) => Ecn::NotEct,
            (EcnFault::StuckCe, ecn) if ecn.is_capable() => Ecn::Ce,
            (EcnFault::Unmark, Ecn::Ce) => Ecn::Ect0,
            (_, ecn) => ecn,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_change_what_they_say() {
        let all = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce];
        assert_eq!(all.map(|ecn| EcnFault::Bleach.apply(ecn)), [Ecn::NotEct; 4]);
        let stuck = [Ecn::NotEct, Ecn::Ce, Ecn::Ce, Ecn::Ce];
        assert_eq!(all.map(|ecn| EcnFault::StuckCe.apply(ecn)), stuck);
        let unmarked = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ect0];
        assert_eq!(all.map(|ecn| EcnFault::Unmark.apply(ecn)), unmarked);
    }
}
