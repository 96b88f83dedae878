//! Differentiated services code points, as numbers or by their names.

use serde::{Deserialize, Serialize};
use sojourn_base::error::FieldError;

/// Names of differentiated services code points: RFC 2474, 2597, 3246, 8622.
const CODE_POINTS: [(&str, u8); 23] = [
    ("DF", 0),
    ("LE", 1),
    ("CS0", 0),
    ("CS1", 8),
    ("CS2", 16),
    ("CS3", 24),
    ("CS4", 32),
    ("CS5", 40),
    ("CS6", 48),
    ("CS7", 56),
    ("AF11", 10),
    ("AF12", 12),
    ("AF13", 14),
    ("AF21", 18),
    ("AF22", 20),
    ("AF23", 22),
    ("AF31", 26),
    ("AF32", 28),
    ("AF33", 30),
    ("AF41", 34),
    ("AF42", 36),
    ("AF43", 38),
    ("EF", 46),
];

/// A code point in a file's words.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum CodePoint {
    Number(u8),
    Name(String),
}

impl CodePoint {
    /// Its number.
    ///
    /// # Errors
    /// There is none such; with what is allowed.
    pub(super) fn number(&self) -> Result<u8, FieldError> {
        let refused = |given: String| {
            let message =
                format!("{given} given; allowed: 0 to 63, or a name such as \"EF\", \"AF41\"");
            FieldError::new("dscp", message)
        };
        match self {
            CodePoint::Number(number @ 0..64) => Ok(*number),
            CodePoint::Number(number) => Err(refused(number.to_string())),
            CodePoint::Name(name) => {
                let known = CODE_POINTS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
                known.map(|(_, number)| *number).ok_or_else(|| refused(format!("{name:?}")))
            }
        }
    }
}
