use serde_json::Value;

use crate::session::testing::{finished, index_of};

/// Scenarios, and what the package and this crate come to; `tests/test_playground_summary.py` writes it.
const STORED: &str = include_str!("../../tests/summaries.json");

/// Null is not a number, and equal to itself here.
fn close(found: &Value, stored: &Value) -> bool {
    match (found, stored) {
        (Value::Array(found), Value::Array(stored)) => {
            found.len() == stored.len()
                && found.iter().zip(stored).all(|(found, stored)| close(found, stored))
        }
        (Value::Object(found), Value::Object(stored)) => {
            found.len() == stored.len()
                && found.iter().all(|(key, value)| stored.get(key).is_some_and(|s| close(value, s)))
        }
        (Value::Number(found), Value::Number(stored)) => {
            let (found, stored) = (found.as_f64().unwrap(), stored.as_f64().unwrap());
            (found - stored).abs() <= 1e-9 * stored.abs()
        }
        _ => found.is_null() && stored.is_null(),
    }
}

#[test]
fn summaries_are_those_of_the_package() {
    let cases: Vec<Value> = serde_json::from_str(STORED).unwrap();
    for case in &cases {
        let lines: Vec<&str> =
            case["scenario"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let found = &index_of(&finished(&lines.join("\n")))["summary"];
        let stored = &case["summary"];
        assert!(close(found, stored), "{}: {found:#} in place of {stored:#}", case["name"]);
    }
}
