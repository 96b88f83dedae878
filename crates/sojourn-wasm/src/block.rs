//! The results of a run as one block of bytes, whose form `abi` describes.

use serde_json::{Map, Value, json};
use sojourn_net::record::{Table, Values};

/// What columns are aligned to: a page looks at them where they are.
const ALIGNED: usize = 8;

/// The tables, and what else the index has.
pub(crate) fn block(tables: &[(&'static str, Table)], beside: Map<String, Value>) -> Vec<u8> {
    let mut first = 0;
    let mut told = Map::new();
    for (name, table) in tables {
        let mut columns = Map::new();
        for column in &table.columns {
            columns.insert(column.name.to_owned(), first.into());
            first += column.values.len();
        }
        let rows = table.columns.first().map_or(0, |column| column.values.len());
        told.insert((*name).to_owned(), json!({ "rows": rows, "columns": columns }));
    }
    let mut index = Map::from_iter([("tables".to_owned(), Value::Object(told))]);
    index.extend(beside);
    let mut index = Value::Object(index).to_string().into_bytes();
    index.resize(index.len().next_multiple_of(ALIGNED), b' ');
    let mut block = Vec::with_capacity(ALIGNED * (1 + first) + index.len());
    block.extend((index.len() as u64).to_le_bytes());
    block.extend(index);
    for column in tables.iter().flat_map(|(_, table)| &table.columns) {
        write(&column.values, &mut block);
    }
    block
}

fn write(values: &Values, block: &mut Vec<u8>) {
    // NaNs have many bit patterns, which differ between machines: one stands for all.
    let real = |value: f64| if value.is_nan() { f64::NAN } else { value };
    match values {
        Values::Integers(values) => {
            values.iter().for_each(|value| block.extend((*value as f64).to_le_bytes()));
        }
        Values::Reals(values) => {
            values.iter().for_each(|value| block.extend(real(*value).to_le_bytes()));
        }
    }
}
