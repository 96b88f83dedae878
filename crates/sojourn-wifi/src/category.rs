//! Access categories and their contention parameters (EDCA, 802.11-2016 10.22.2; defaults of Table
//! 9-137).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use sojourn_base::error::FieldError;
use sojourn_base::units::Span;
use sojourn_net::spec::AccessCategory;

/// Contention parameters of an access category.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contention {
    /// Slots beyond a SIFS that the medium must be idle.
    pub aifsn: u32,
    /// The smallest contention window.
    pub cw_min: u32,
    /// The largest contention window.
    pub cw_max: u32,
    /// Time for which a station may hold the medium; 0 is one exchange.
    pub txop: Span,
}

/// Parameters of DCF: DIFS is a SIFS and two slots.
pub(crate) const DCF: Contention =
    Contention { aifsn: 2, cw_min: 15, cw_max: 1023, txop: Span::ZERO };

/// The default parameters of a category.
pub(crate) fn default_of(category: AccessCategory) -> Contention {
    let (aifsn, cw_min, cw_max, txop) = match category {
        AccessCategory::Background => (7, 15, 1023, 0),
        AccessCategory::BestEffort => (3, 15, 1023, 0),
        AccessCategory::Video => (2, 7, 15, 3_008),
        AccessCategory::Voice => (2, 3, 7, 1_504),
    };
    Contention { aifsn, cw_min, cw_max, txop: Span::from_micros(txop) }
}

impl Contention {
    /// Checks that the standard can announce these windows.
    ///
    /// # Errors
    /// Names the key.
    pub fn validate(&self) -> Result<(), FieldError> {
        let window = |cw: u32| cw < 32_768 && (cw + 1).is_power_of_two();
        for (key, cw) in [("cw_min", self.cw_min), ("cw_max", self.cw_max)] {
            if !window(cw) {
                let message = format!("{cw} given; allowed: a power of two minus one, up to 32767");
                return Err(FieldError::new(key, message));
            }
        }
        if self.cw_max < self.cw_min {
            let message = format!("{} is below cw_min, {}", self.cw_max, self.cw_min);
            return Err(FieldError::new("cw_max", message));
        }
        if !(1..=15).contains(&self.aifsn) {
            let message = format!("{} given; allowed: 1 to 15", self.aifsn);
            return Err(FieldError::new("aifsn", message));
        }
        if self.txop > Span::from_millis(100) {
            let message = format!("{} given; allowed: at most 100 ms", self.txop);
            return Err(FieldError::new("txop", message));
        }
        Ok(())
    }
}
