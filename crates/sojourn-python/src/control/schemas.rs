//! JSON schemas of the tables of external code: the keys of its kind; those of its own parameters
//! are not restricted.

use serde_json::{Map, Value, json};

/// A Python class.
pub(super) fn python() -> Value {
    let path =
        text("The Python file, relative to the scenario's; files beside it may be imported.");
    table([("path", path), ("class", text("The class in it."))], &["path", "class"])
}

/// A shared library.
pub(super) fn library() -> Value {
    table([("path", text("The shared library, relative to the scenario's file."))], &["path"])
}

/// A BPF program; it has no parameters.
pub(super) fn bpf() -> Value {
    let object = text("The compiled BPF object, relative to the scenario's file.");
    let mut schema =
        table([("object", object), ("name", text("The control in it."))], &["object", "name"]);
    schema["additionalProperties"] = false.into();
    schema
}

/// The source of a kernel module.
pub(super) fn linux() -> Value {
    let version = json!({ "type": "string", "enum": ["6.1", "6.12"], "default": "6.1",
                          "description": "Of the kernel's interface that it was written for." });
    let hz = json!({ "type": "integer", "enum": [100, 250, 300, 1000], "default": 1000,
                     "description": "The kernel's ticks per second." });
    let observe = json!({ "type": "array", "items": { "type": "string" }, "default": [],
                          "description": "Fields of its private state that are recorded." });
    let source = text("The module's source, relative to the scenario's file.");
    let keys = [("source", source), ("version", version), ("hz", hz), ("observe", observe)];
    table(keys, &["source"])
}

/// The source of a kernel's queue discipline.
pub(super) fn linux_queue() -> Value {
    let mut schema = linux();
    schema["properties"]["masquerade"] = json!({
        "type": "string", "enum": ["none", "source", "destination"], "default": "none",
        "description": "Address that a NAT in the same router has replaced by the router's own.",
    });
    schema
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn table<const N: usize>(keys: [(&str, Value); N], required: &[&str]) -> Value {
    let properties: Map<_, _> =
        keys.into_iter().map(|(key, told)| (key.to_owned(), told)).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}
