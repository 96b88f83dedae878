//! A member's listing: name, documentation, parameters.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::{Catalogue, Params, parse_params};
use crate::error::FieldError;

/// Listing of a member of an open kind in the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Listing {
    /// Canonical name: lower case, words joined as the scenario file writes them.
    pub name: &'static str,
    /// The member's source file; its `//!` header is its documentation page.
    pub source: &'static str,
    /// JSON schema of its parameters, with defaults and descriptions.
    pub schema: fn() -> Value,
    /// Reads and validates parameters; returns them with every default filled in.
    pub canonical: fn(&Map<String, Value>, &Catalogue) -> Result<Value, FieldError>,
}

impl Listing {
    /// The listing of a member with parameters `P`.
    pub const fn new<P: Params>(name: &'static str, source: &'static str) -> Self {
        Listing { name, source, schema: schema_of::<P>, canonical: canonical::<P> }
    }

    /// The file's header without its comment marks: Markdown, whose first sentence is the summary.
    pub fn documentation(&self) -> String {
        self.source
            .lines()
            .map_while(|line| line.strip_prefix("//!"))
            .map(|line| line.strip_prefix(' ').unwrap_or(line))
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// The first sentence of the documentation.
    pub fn summary(&self) -> String {
        let documentation = self.documentation();
        first_sentence(documentation.split("\n\n").next().unwrap_or_default())
    }

    /// The member's source: the first sentence of the paragraph that begins with `Model:`; `None`
    /// for a member that follows none.
    pub fn model(&self) -> Option<String> {
        let documentation = self.documentation();
        let model = documentation.split("\n\n").find_map(|text| text.strip_prefix("Model: "))?;
        Some(first_sentence(model))
    }
}

/// The text up to the first full stop that does not follow an initial ("T. Kelly").
fn first_sentence(paragraph: &str) -> String {
    let text = paragraph.replace('\n', " ");
    let is_initial = |end: usize| {
        let word = text[..end].rsplit(' ').next().unwrap_or_default();
        word.len() == 1 && word.starts_with(char::is_uppercase)
    };
    match text.match_indices(". ").find(|(end, _)| !is_initial(*end)) {
        Some((end, _)) => text[..=end].to_owned(),
        None => text,
    }
}

/// The schema of `P`, with everything inline so that it can be embedded in a larger one.
fn schema_of<P: Params>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<P>().to_value()
}

fn canonical<P: Params>(
    params: &Map<String, Value>,
    catalogue: &Catalogue,
) -> Result<Value, FieldError> {
    let parsed: P = parse_params(params, catalogue)?;
    Ok(serde_json::to_value(parsed).expect("parameters serialise"))
}
