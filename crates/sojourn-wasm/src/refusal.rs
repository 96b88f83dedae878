//! What a page is told of a scenario that cannot be run, or of a setting that is seldom intended.

use serde_json::{Value, json};
use sojourn_base::error::{Fault, FieldError};

use crate::place::{self, Place};

/// Why a page does not run something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong, and what is allowed.
    pub message: String,
    /// Path of the field, if it is one.
    pub field: Option<String>,
    /// Where the text has it.
    pub place: Option<Place>,
    /// How the command line does it, if a page cannot.
    pub local: Option<&'static str>,
}

impl Refusal {
    /// An error of a scenario, with its place in the file's text.
    pub fn of(error: FieldError, text: &str) -> Self {
        // A table's unknown kind is an error of the table, which may stand for the name alone.
        let message = &error.message;
        let of_kind = message.starts_with("unknown ") && !message.starts_with("unknown key");
        let field = if of_kind { format!("{}.kind", error.field) } else { error.field.clone() };
        Refusal {
            place: place::of(text, &field),
            field: Some(error.field).filter(|field| !field.is_empty()),
            message: error.message,
            local: None,
        }
    }

    /// The same with the way to do it on the command line.
    #[must_use]
    pub fn locally(self, local: &'static str) -> Self {
        Refusal { local: Some(local), ..self }
    }

    /// A run that ended by itself.
    pub(crate) fn broken(fault: &Fault) -> Self {
        Refusal::plain(fault.to_string())
    }

    /// Nothing is being run.
    pub(crate) fn not_open() -> Self {
        Refusal::plain("no scenario is open".to_owned())
    }

    pub(crate) fn plain(message: String) -> Self {
        Refusal { message, field: None, place: None, local: None }
    }

    /// The form in which a page gets it.
    pub fn to_json(&self) -> Value {
        let (line, column) = self.place.map(|place| (place.line, place.column)).unzip();
        json!({
            "message": self.message,
            "field": self.field,
            "line": line,
            "column": column,
            "local": self.local,
        })
    }
}
