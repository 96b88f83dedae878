//! What a control from outside the tree must keep to: its decisions are checked at the border, so
//! that a mistake in it ends its run with a message and not in nonsense.

use super::Decision;
use crate::spec::limits::{FASTEST, MOST_PACKETS};
use crate::units::Rate;

/// Segments that may be sent back to back.
const LONGEST_BURST: u32 = 1_000_000;

/// Whether a sender can follow a decision.
///
/// # Errors
/// Names the field, what was given and what is allowed.
pub fn check(decision: &Decision) -> Result<(), String> {
    let Decision { cwnd, ssthresh, pacing_rate, burst, .. } = *decision;
    let refuse = |field: &str, given: u64, allowed: String| {
        Err(format!("{field} is {given}; allowed: {allowed}"))
    };
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
    use crate::cc::window::Window;

    #[test]
    fn what_no_sender_can_follow_is_named() {
        let good = Window::new(10).decision();
        assert_eq!(check(&good), Ok(()));
        let bad = |decision: Decision| check(&decision).unwrap_err();
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
