//! Where a scenario file has a field.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its line, from 1.
    pub line: usize,
    /// The character in that line, from 1.
    pub column: usize,
}

/// Where the text has the field at a path such as `flows.1.cca.beta`, or of a field that it has not,
/// the deepest table or list on the path. Of a text that is no TOML: where it ceases to be.
pub(crate) fn of(text: &str, field: &str) -> Option<Place> {
    let start = match DeTable::parse(text) {
        Ok(root) => deepest(root.get_ref(), field)?.start,
        Err(error) => error.span()?.start,
    };
    let before = text.get(..start)?;
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    Some(Place { line, column })
}

/// The bytes of the key of a table, or of the item of a list, that is deepest on the path.
fn deepest(root: &DeTable<'_>, field: &str) -> Option<Range<usize>> {
    let mut parts = field.split('.');
    let (key, mut here) = root.get_key_value(parts.next()?)?;
    let mut span = key.span();
    for part in parts {
        let Some((deeper, value)) = child(here.get_ref(), part) else { break };
        (span, here) = (deeper, value);
    }
    Some(span)
}

fn child<'a, 'i>(
    parent: &'a DeValue<'i>,
    part: &str,
) -> Option<(Range<usize>, &'a Spanned<DeValue<'i>>)> {
    match parent {
        DeValue::Table(table) => table.get_key_value(part).map(|(key, value)| (key.span(), value)),
        DeValue::Array(items) => {
            items.get(part.parse::<usize>().ok()?).map(|item| (item.span(), item))
        }
        _ => None,
    }
}
