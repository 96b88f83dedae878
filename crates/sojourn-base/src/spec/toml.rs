//! Conversion of TOML to JSON.

use serde_json::{Map, Number, Value};

use crate::error::{FieldError, quoted};

/// The JSON equivalent of a TOML text.
///
/// # Errors
/// If the text is malformed (with line and column), or holds a date outside quotes or a
/// number that is not finite, which JSON does not have.
pub fn toml_to_json(text: &str) -> Result<Value, FieldError> {
    let table: ::toml::Table = text.parse().map_err(|error| malformed(text, &error))?;
    table_to_json(table)
}

fn malformed(text: &str, error: &::toml::de::Error) -> FieldError {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    let why = error.message().replace('\n', "; ");
    let why = quoted(&why);
    FieldError::new("", format!("not valid TOML, line {line}, column {column}: {why}"))
}

fn table_to_json(table: ::toml::Table) -> Result<Value, FieldError> {
    let entries = table.into_iter().map(|(key, value)| {
        let value = to_json(value).map_err(|e| e.within(&key))?;
        Ok((key, value))
    });
    Ok(Value::Object(entries.collect::<Result<Map<_, _>, _>>()?))
}

fn to_json(value: ::toml::Value) -> Result<Value, FieldError> {
    Ok(match value {
        ::toml::Value::String(text) => Value::String(text),
        ::toml::Value::Integer(number) => Value::from(number),
        ::toml::Value::Float(number) => {
            Value::Number(Number::from_f64(number).ok_or_else(|| {
                FieldError::new("", format!("{number} given; allowed: finite numbers"))
            })?)
        }
        ::toml::Value::Boolean(flag) => Value::Bool(flag),
        ::toml::Value::Datetime(date) => {
            return Err(FieldError::new("", format!("{date} given; write a date in quotes")));
        }
        ::toml::Value::Array(items) => {
            let items = items.into_iter().enumerate();
            let items = items.map(|(i, item)| to_json(item).map_err(|e| e.within(&i.to_string())));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        ::toml::Value::Table(table) => table_to_json(table)?,
    })
}
