//! Reading of entries: keys are those of the entry, and those of a flow.
//!
//! `arrivals` is taken out of the document before the scenario is read, and each entry's own keys
//! out of its table before the rest is read as a flow, so that errors have whole paths and list the
//! keys of both.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::choice::taken;
use super::{ArrivalKeys, ArrivalsSpec, ProcessSpec, SessionSpec, Sizes, Times};
use crate::error::FieldError;
use crate::reading;
use crate::spec::FlowSpec;

type Table = Map<String, Value>;

/// The key of the scenario.
pub(crate) const KEY: &str = "arrivals";
/// Keys of a flow that an entry does not have.
pub(super) const OF_FLOWS: &[&str] = &["traffic", "count", "drop", "receivers", "packet_metrics"];
/// Keys of a flow that an entry has and its variants have not.
pub(super) const OF_ENTRY: &[&str] = &["label", "start", "stop"];

/// Takes the entries out of a document; returns the rest. A document without them is not copied.
///
/// # Errors
/// If they are no list of tables.
pub(crate) fn take(document: &Value) -> Result<(Cow<'_, Value>, Vec<Table>), FieldError> {
    let Some(given) = document.get(KEY) else {
        return Ok((Cow::Borrowed(document), Vec::new()));
    };
    let entries = tables(given).map_err(|error| error.within(KEY))?;
    let mut rest = document.clone();
    if let Some(rest) = rest.as_object_mut() {
        rest.shift_remove(KEY);
    }
    Ok((Cow::Owned(rest), entries))
}

/// Reads entries.
///
/// # Errors
/// Names the field, from the root.
pub(crate) fn read(entries: Vec<Table>) -> Result<Vec<ArrivalsSpec>, FieldError> {
    let entry = |(index, table): (usize, Table)| {
        entry(table, index).map_err(|error| error.within(&format!("{KEY}.{index}")))
    };
    entries.into_iter().enumerate().map(entry).collect()
}

fn tables(value: &Value) -> Result<Vec<Table>, FieldError> {
    let wrong = || FieldError::new("", "expected a list of tables, such as [[arrivals]] makes");
    let entries = value.as_array().ok_or_else(wrong)?;
    entries.iter().map(|entry| entry.as_object().cloned().ok_or_else(wrong)).collect()
}

fn entry(mut table: Table, index: usize) -> Result<ArrivalsSpec, FieldError> {
    let mix = taken(&mut table, "mix", tables)?.unwrap_or_default();
    let keys = keys(&mut table, index)?;
    let mut own = flow(&table, &keys, |known| {
        known.extend(ArrivalKeys::NAMES);
        known.push("mix");
    })?;
    let read = |(index, overlay): (usize, Table)| {
        variant(&table, &keys, overlay).map_err(|error| error.within(&format!("mix.{index}")))
    };
    let mut mix = mix.into_iter().enumerate().map(read).collect::<Result<Vec<_>, _>>()?;
    // A mix of one is no mix.
    if mix.len() == 1 {
        own = mix.remove(0).1;
    }
    Ok(ArrivalsSpec { keys, flow: own, mix })
}

/// Takes the entry's own keys out of its table.
fn keys(table: &mut Table, index: usize) -> Result<ArrivalKeys, FieldError> {
    let label = taken(table, "label", plain)?;
    Ok(ArrivalKeys {
        label: label.unwrap_or_else(|| format!("{KEY}-{index}")),
        process: taken(table, "process", ProcessSpec::read)?.unwrap_or_default(),
        rate: taken(table, "rate", plain)?,
        load: taken(table, "load", plain)?,
        users: taken(table, "users", plain)?,
        think: taken(table, "think", Times::read)?,
        size: taken(table, "size", Sizes::read)?,
        session: taken(table, "session", SessionSpec::read)?,
        connections: taken(table, "connections", plain)?.unwrap_or_default(),
        pool: taken(table, "pool", plain)?,
        request: taken(table, "request", Sizes::read)?,
        server_time: taken(table, "server_time", Times::read)?,
    })
}

fn plain<T: DeserializeOwned>(value: &Value) -> Result<T, FieldError> {
    reading::read(value)
}

/// Reads the keys of a variant over those of its entry.
fn variant(
    table: &Table,
    keys: &ArrivalKeys,
    mut overlay: Table,
) -> Result<(f64, FlowSpec), FieldError> {
    let weight = taken(&mut overlay, "weight", plain)?.unwrap_or(1.0);
    if let Some(key) = OF_ENTRY.iter().find(|key| overlay.contains_key(**key)) {
        let message = "given; the whole entry has the same: give the variant an entry of its own";
        return Err(FieldError::new(*key, message));
    }
    let mut whole = table.clone();
    whole.extend(overlay);
    let flow = flow(&whole, keys, |known| {
        known.retain(|key| !OF_ENTRY.contains(key));
        known.push("weight");
    })?;
    Ok((weight, flow))
}

/// Reads the keys of a flow; `more` adds those that stand beside them to those that errors list.
fn flow(
    table: &Table,
    keys: &ArrivalKeys,
    more: impl FnOnce(&mut Vec<&str>),
) -> Result<FlowSpec, FieldError> {
    if let Some(key) = OF_FLOWS.iter().find(|key| table.contains_key(**key)) {
        let message = "given; an arrival is one transfer: use size, rate, mix";
        return Err(FieldError::new(*key, message));
    }
    let flow: FlowSpec = reading::read_among(&Value::Object(table.clone()), |path, known| {
        if path.is_empty() {
            known.retain(|key| !OF_FLOWS.contains(key) && *key != "label");
            more(known);
        }
    })?;
    Ok(FlowSpec { label: Some(keys.label.clone()), ..flow })
}
