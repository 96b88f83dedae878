//! Validation of the return values of a control written in Python.

use pyo3::prelude::*;
use pyo3::types::PyString;
use sojourn_base::observe::Observed;
use sojourn_base::units::{Rate, Span, Time};
use sojourn_tcp::cc::external::{self, OutOfRange};
use sojourn_tcp::cc::{self, INFINITE_SSTHRESH};

use super::values::Decision;

/// A decision that a sender can carry out, or the error in it.
pub(super) fn decision(answer: &Bound<'_, PyAny>) -> Result<cc::Decision, String> {
    let Ok(given) = answer.cast::<Decision>() else {
        return Err(format!("returned {}; expected a Decision", shown(answer)));
    };
    let given = given.get();
    let whole = |field: &str, value: f64| {
        if value.is_nan() {
            return Err(format!("{field} is NaN"));
        }
        // Values beyond the integer's range saturate, negative ones to zero, and are refused below.
        Ok(value as u32)
    };
    let ssthresh = whole("ssthresh", given.ssthresh)?.min(INFINITE_SSTHRESH);
    let mut decided = cc::Decision::new(whole("cwnd", given.cwnd)?, ssthresh);
    decided.pacing_rate = match given.pacing_rate {
        Some(rate) if rate.is_nan() => return Err("pacing_rate is NaN".into()),
        rate => rate.map(|rate| Rate::from_bps(rate as u64)),
    };
    decided.burst = given.burst.map(|burst| whole("burst", burst)).transpose()?;
    decided.owns_recovery = given.owns_recovery;
    external::check(&decided).map_err(|refused| as_given(&refused, given))?;
    Ok(decided)
}

/// What is wrong with a field, whose value is told as the control gave it.
fn as_given(refused: &OutOfRange, given: &Decision) -> String {
    let value = match refused.field {
        "cwnd" => Some(given.cwnd),
        "ssthresh" => Some(given.ssthresh),
        "pacing_rate" => given.pacing_rate,
        _ => given.burst,
    };
    let text = format!("{:?}", value.unwrap_or_default());
    refused.told(text.strip_suffix(".0").unwrap_or(&text))
}

/// The time that `next_timer` returned.
pub(super) fn timer(answer: &Bound<'_, PyAny>) -> Result<Option<Time>, String> {
    if answer.is_none() {
        return Ok(None);
    }
    match answer.extract::<f64>() {
        Ok(seconds) if !seconds.is_nan() => Ok(Some(Time::ZERO + Span::from_secs_f64(seconds))),
        _ => Err(format!("returned {}; expected seconds or None", shown(answer))),
    }
}

/// A value that `observe` returned.
pub(super) fn observed<'a>(value: &'a Bound<'_, PyAny>) -> Result<Option<Observed<'a>>, String> {
    if value.is_none() {
        return Ok(None);
    }
    if let Ok(text) = value.cast::<PyString>() {
        return text.to_str().map(|text| Some(text.into())).map_err(|error| error.to_string());
    }
    let number = value.extract::<f64>();
    let wrong =
        |_| format!("returned {} in its dict; expected numbers, texts or None", shown(value));
    number.map(|number| Some(number.into())).map_err(wrong)
}

fn shown(object: &Bound<'_, PyAny>) -> String {
    object.repr().map_or_else(|_| "something".to_owned(), |text| text.to_string())
}
