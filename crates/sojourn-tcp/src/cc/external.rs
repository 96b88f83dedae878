//! Validation of external congestion controls: their decisions are checked when they enter the
//! core, so that an error in one ends its run with a message instead of wrong results.

use std::fmt;
use std::str::FromStr;

use super::{CcaFacts, Decision, EcnMode};
use crate::spec::limits::{FASTEST, MOST_PACKETS};
use crate::units::Rate;
use serde_json::{Map, Value};

/// Largest accepted burst, in segments.
const LONGEST_BURST: u32 = 1_000_000;

/// Key of the ECN feedback that a control needs, in the canonical table of an external control,
/// whose own code declares it.
pub const NEEDS_ECN: &str = "needs_ecn";

/// The ECN feedback that a control with these parameters needs.
pub fn needed_ecn(facts: &CcaFacts, params: &Map<String, Value>) -> EcnMode {
    let said = params.get(NEEDS_ECN).and_then(Value::as_str);
    said.and_then(|name| EcnMode::from_str(name).ok()).unwrap_or(facts.ecn)
}

/// A field of a decision that is out of range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfRange {
    /// Its name.
    pub field: &'static str,
    /// Its value in the decision.
    pub given: u64,
    /// The values that it may have.
    pub allowed: String,
}

impl OutOfRange {
    /// The message, with the value as the control itself gave it.
    pub fn told(&self, given: impl fmt::Display) -> String {
        format!("{} is {given}; allowed: {}", self.field, self.allowed)
    }
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told(self.given))
    }
}

/// Checks that a sender can carry out a decision.
///
/// # Errors
/// A field is out of range.
pub fn check(decision: &Decision) -> Result<(), OutOfRange> {
    let Decision { cwnd, ssthresh, pacing_rate, burst, .. } = *decision;
    let refuse = |field, given, allowed| Err(OutOfRange { field, given, allowed });
    if cwnd == 0 || u64::from(cwnd) > MOST_PACKETS {
        return refuse("cwnd", cwnd.into(), format!("1 to {MOST_PACKETS} segments"));
    }
    if ssthresh == 0 {
        return refuse("ssthresh", 0, "at least 1 segment".to_owned());
    }
    if let Some(rate) = pacing_rate.filter(|rate| *rate == Rate::from_bps(0) || *rate > FASTEST) {
        return refuse("pacing_rate", rate.as_bps(), format!("above 0, at most {FASTEST}"));
    }
    match burst {
        Some(burst) if burst == 0 || burst > LONGEST_BURST => {
            refuse("burst", burst.into(), format!("1 to {LONGEST_BURST} segments"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_table_says_what_feedback_its_control_needs() {
        let facts = CcaFacts::default();
        let said = Map::from_iter([(NEEDS_ECN.to_owned(), json!("l4s"))]);
        assert_eq!(needed_ecn(&facts, &said), EcnMode::L4s);
        assert_eq!(needed_ecn(&facts, &Map::new()), EcnMode::Off);
    }
    use crate::cc::window::Window;

    #[test]
    fn what_no_sender_can_follow_is_named() {
        let good = Window::new(10).decision();
        assert_eq!(check(&good), Ok(()));
        let bad = |decision: Decision| check(&decision).unwrap_err().to_string();
        assert!(bad(Decision { cwnd: 0, ..good }).contains("cwnd is 0; allowed: 1 to"));
        assert!(bad(Decision { cwnd: u32::MAX, ..good }).contains("cwnd is 4294967295"));
        assert!(bad(Decision { ssthresh: 0, ..good }).contains("ssthresh is 0"));
        assert!(bad(Decision { burst: Some(0), ..good }).contains("burst is 0"));
        assert!(
            bad(Decision { pacing_rate: Some(Rate::from_bps(0)), ..good })
                .contains("pacing_rate is 0")
        );
    }
}
