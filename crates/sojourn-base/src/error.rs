//! The two errors: a bad scenario, refused before the run ([`FieldError`]), and a broken invariant
//! of the simulator itself, which ends the run ([`Fault`]).

use std::borrow::Cow;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::units::Time;

/// An error quotes so many characters of what was given.
const QUOTED: usize = 200;

/// A text as an error quotes it: of a long one the beginning, and how long it is.
pub fn quoted(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(QUOTED) {
        None => Cow::Borrowed(text),
        Some((end, _)) => {
            let count = text.chars().count();
            Cow::Owned(format!("{}... ({count} characters)", &text[..end]))
        }
    }
}

/// A field of a scenario that cannot be accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// Path of the field as the file writes it, such as `flows.0.cca`; empty at the root.
    pub field: String,
    /// What is wrong with it and what is allowed.
    pub message: String,
}

impl FieldError {
    /// An error of `field`, with its message.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        // Its last part may be a key that somebody made up.
        let field: String = field.into();
        FieldError { field: quoted(&field).into_owned(), message: message.into() }
    }

    /// An unknown name: the message suggests the nearest known name and lists all of them, if any.
    pub fn unknown_name(field: &str, kind: &str, written: &str, names: &[&str]) -> Self {
        let nearest = nearest(written, names)
            .map(|name| format!(" did you mean '{name}'?"))
            .unwrap_or_default();
        let names =
            if names.is_empty() { "none, as none is defined".into() } else { names.join(", ") };
        let written = quoted(written);
        let message = format!("unknown {kind} '{written}';{nearest} allowed: {names}");
        FieldError::new(field, message)
    }

    /// The same error with its field relative to the parent.
    #[must_use]
    pub fn within(mut self, parent: &str) -> Self {
        self.field = match (parent.is_empty(), self.field.is_empty()) {
            (true, _) => self.field,
            (false, true) => quoted(parent).into_owned(),
            (false, false) => format!("{}.{}", quoted(parent), self.field),
        };
        self
    }
}

/// The known name most similar to `written`, if any is similar.
fn nearest<'a>(written: &str, names: &[&'a str]) -> Option<&'a str> {
    let plain = |name: &str| name.to_lowercase().replace('_', "-");
    let written: String = plain(written).chars().take(100).collect();
    let likeness = |name: &str| strsim::normalized_damerau_levenshtein(&written, &plain(name));
    let likely = names.iter().map(|name| (likeness(name), *name)).filter(|(like, _)| *like > 0.4);
    likely.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name)
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.field.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.field, self.message)
        }
    }
}

impl std::error::Error for FieldError {}

/// A broken invariant inside the event loop: an error of the simulator, not of the scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Simulated time at which it was noticed.
    pub time: Time,
    /// Component in which it was noticed, such as `link bottleneck` or `receiver of flow 3`.
    pub component: String,
    /// What should hold and does not.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {:?}, {}: {}", self.time, self.component, self.message)
    }
}

impl std::error::Error for Fault {}

/// Reason why a component ended the run; returned by [`unless_ended`].
#[derive(Debug)]
pub struct Ended {
    component: String,
    message: String,
}

impl Ended {
    /// Converted to the fault of a run that had reached `time`.
    pub fn at(self, time: Time) -> Fault {
        Fault { time, component: self.component, message: self.message }
    }

    /// Converted to the refusal of a scenario whose run had not begun.
    pub fn before_the_run(self) -> FieldError {
        FieldError::new(self.component, self.message)
    }
}

/// Ends the run from within a component whose calls return no errors, such as an external control:
/// `Simulation::advance` returns the [`Fault`].
pub fn end_run(component: impl Into<String>, message: impl Into<String>) -> ! {
    resume_unwind(Box::new(Ended { component: component.into(), message: message.into() }))
}

/// Runs `work` and returns its value, unless a component ends the run meanwhile.
///
/// # Errors
/// If a component ends the run with [`end_run`]. Any other panic propagates.
pub fn unless_ended<T>(work: impl FnOnce() -> T) -> Result<T, Ended> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| match payload.downcast() {
        Ok(ended) => *ended,
        Err(panic) => resume_unwind(panic),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_quotes_the_beginning_of_what_is_long() {
        let long = "\u{e4}".repeat(100_000);
        let told = format!("{}... (100000 characters)", "\u{e4}".repeat(QUOTED));
        assert_eq!(quoted(&long), told);
        assert_eq!(quoted(&long[..2 * QUOTED]), long[..2 * QUOTED]);
        let error = FieldError::unknown_name(&long, "key", &long, &["rate"]).within(&long);
        assert_eq!(error.field, format!("{told}.{told}"));
        assert_eq!(error.message, format!("unknown key '{told}'; allowed: rate"));
    }
}
