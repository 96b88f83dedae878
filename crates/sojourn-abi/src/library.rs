//! Loading of a shared library: validation of its description, and its parameters.

use std::ffi::{CStr, c_char};
use std::path::Path;

use libloading::Library;
use serde_json::{Map, Value};
use sojourn_base::error::FieldError;

use crate::abi::{ABI, RawControl, RawParam, SYMBOL};
use sojourn_tcp::cc::EcnMode;
use sojourn_tcp::cc::external::NEEDS_ECN;

/// Keys of a control's table that are not its parameters.
const KEYS: [&str; 4] = ["path", "digest", "abi", NEEDS_ECN];

/// The description of the control in a library, which stays loaded for the life of the process.
///
/// # Errors
/// There is no such library, or it was built for another version of the interface.
pub fn load(table: &Map<String, Value>) -> Result<&'static RawControl, FieldError> {
    let path = table.get("path").and_then(Value::as_str);
    let path = path.ok_or_else(|| FieldError::new("path", "is missing; expected a library"))?;
    let refused = |message: String| FieldError::new("path", format!("{path}: {message}"));
    // SAFETY: a scenario that names a library asks to run its code; a worker process contains the
    // damage.
    let library = unsafe { Library::new(Path::new(path)) };
    let library = Box::leak(Box::new(library.map_err(|e| refused(format!("not loaded: {e}")))?));
    // SAFETY: the header declares this function under this name.
    let described = unsafe { library.get::<unsafe extern "C" fn() -> *const RawControl>(SYMBOL) };
    let described = described.map_err(|_| refused("exports no function sojourn_cca".to_owned()))?;
    // SAFETY: as above; what it returns is checked before it is used.
    let control = unsafe { described().as_ref() };
    let control = control.ok_or_else(|| refused("sojourn_cca() returned null".to_owned()))?;
    check(control).map_err(refused)?;
    Ok(control)
}

/// Of a description of another version only the first two fields are meaningful.
fn check(control: &RawControl) -> Result<(), String> {
    if control.abi != ABI {
        return Err(format!(
            "is built for version {} of the interface, this Sojourn has version {ABI}; build it with \
             the sojourn_cca.h of this Sojourn",
            control.abi
        ));
    }
    if control.size as usize != size_of::<RawControl>() {
        let expected = size_of::<RawControl>();
        return Err(format!("its description has {} bytes; expected {expected}", control.size));
    }
    let required = [
        ("create", control.create.is_some()),
        ("destroy", control.destroy.is_some()),
        ("on_ack", control.on_ack.is_some()),
        ("on_congestion", control.on_congestion.is_some()),
        ("decide", control.decide.is_some()),
    ];
    match required.iter().find(|(_, given)| !given) {
        Some((name, _)) => Err(format!("its description has no {name}")),
        None if control.ecn as usize >= EcnMode::NAMES.len() => {
            let most = EcnMode::NAMES.len() - 1;
            Err(format!("its description has ecn {}; allowed: 0 to {most}", control.ecn))
        }
        None => Ok(()),
    }
}

/// The table with every parameter filled in.
///
/// # Errors
/// As [`load`]; also if a parameter is unknown, not a number or out of range.
pub fn canonical(table: &Map<String, Value>) -> Result<Value, FieldError> {
    let control = load(table)?;
    let mut made = Map::new();
    for key in KEYS {
        if let Some(value) = table.get(key) {
            made.insert(key.to_owned(), value.clone());
        }
    }
    made.insert("abi".to_owned(), ABI.into());
    // Numbered as in the header; no feedback is the default and is left out.
    if let Some(needed) = EcnMode::NAMES.get(control.ecn as usize).filter(|_| control.ecn > 0) {
        made.insert(NEEDS_ECN.to_owned(), (*needed).into());
    }
    for (name, value) in parameters(control, table)? {
        let whole = value.fract() == 0.0 && value.abs() < 9e15;
        made.insert(name, if whole { (value as i64).into() } else { value.into() });
    }
    Ok(Value::Object(made))
}

/// The values of the parameters in the order of the description.
///
/// # Errors
/// As [`canonical`].
pub fn parameters(
    control: &RawControl,
    table: &Map<String, Value>,
) -> Result<Vec<(String, f64)>, FieldError> {
    let params = match control.param_count {
        0 => &[],
        // SAFETY: the description says how many there are.
        count => unsafe { std::slice::from_raw_parts(control.params, count as usize) },
    };
    let names: Vec<_> = params.iter().map(|param| text(param.name)).collect();
    for key in table.keys().filter(|key| !KEYS.contains(&key.as_str())) {
        if !names.contains(key) {
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            return Err(FieldError::unknown_name(key, "parameter", key, &names));
        }
    }
    let value = |(param, name): (&RawParam, String)| {
        let given = table.get(&name).map_or(Ok(param.value), |given| number(&name, given))?;
        let whole = param.whole == 0 || given.fract() == 0.0;
        if whole && (param.least..=param.most).contains(&given) {
            return Ok((name, given));
        }
        let kind = if param.whole == 0 { "a number" } else { "a whole number" };
        let allowed = format!("{kind} from {} to {}", param.least, param.most);
        Err(FieldError::new(name, format!("{given} given; allowed: {allowed}")))
    };
    params.iter().zip(names).map(value).collect()
}

fn number(name: &str, given: &Value) -> Result<f64, FieldError> {
    let wrong = || FieldError::new(name, format!("{given} given; expected a number"));
    given.as_f64().ok_or_else(wrong)
}

fn text(words: *const c_char) -> String {
    if words.is_null() {
        return String::new();
    }
    // SAFETY: the header asks for strings that end in a zero.
    unsafe { CStr::from_ptr(words) }.to_string_lossy().into_owned()
}
