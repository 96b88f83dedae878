//! The examples in C and C++, and the same law in Rust, give the same runs (`tests/test_library.py`
//! adds Python); defects of a library are reported.

#[path = "../../../../examples/own-control/src/aimd.rs"]
mod aimd;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use serde_json::{Value, json};
use sojourn_catalogue::own;
use sojourn_sim::scenario::Scenario;
use sojourn_sim::sim::Simulation;
use sojourn_tcp::cc;

/// Where tests keep files: nobody else writes there, as in the system's temporary directory.
const PLACE: &str = env!("CARGO_TARGET_TMPDIR");

/// Builds a library.
fn build(source: &str, name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let made = Path::new(PLACE).join(format!("{name}-{}.so", std::process::id()));
    let compiler = if source.ends_with(".cpp") { "c++" } else { "cc" };
    let status = Command::new(compiler)
        .args(["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"])
        .arg(format!("-I{}", root.join("python/sojourn/include").display()))
        .arg("-o")
        .args([&made, &root.join(source)])
        .status();
    assert!(status.unwrap().success());
    made
}

/// Random loss, marks, an outage with timeouts, an application that pauses, and another flow.
fn scenario(control: &Value) -> Value {
    json!({
        "duration": "30 s",
        "topology": { "kind": "dumbbell", "bottleneck": {
            "rate": "20 Mbit/s", "queue": { "kind": "codel" },
            "loss_schedule": { "kind": "steps", "steps": [
                { "at": "0 s", "value": "0.1 %" }, { "at": "10 s", "value": "100 %" },
                { "at": "12 s", "value": "0.1 %" } ] } } },
        "flows": [
            { "cca": control, "rtt": "40 ms" },
            { "cca": control, "rtt": "60 ms", "ecn": "classic" },
            { "cca": control, "rtt": "20 ms", "traffic":
                { "kind": "on-off", "rate": "4 Mbit/s", "on": "1 s", "off": "2 s" } },
            { "cca": "cubic", "rtt": "40 ms" },
        ],
    })
}

fn run(control: &Value) -> String {
    let members = own().with(vec![
        sojourn_abi::entry(),
        cc::entry::<aimd::Aimd>(
            "aimd",
            include_str!("../../../../examples/own-control/src/aimd.rs"),
        ),
    ]);
    let scenario = Scenario::from_json(&scenario(control), &Arc::new(members)).unwrap();
    format!("{:?}", Simulation::new(&scenario).unwrap().run().unwrap())
}

#[test]
fn the_same_law_makes_the_same_run() {
    let rust = run(&json!("aimd"));
    for (source, name) in
        [("examples/own-control-c/aimd.c", "c"), ("examples/own-control-cpp/aimd.cpp", "cpp")]
    {
        let library = build(source, name);
        assert!(run(&json!({ "kind": "library", "path": library })) == rust, "{source} differs");
        std::fs::remove_file(library).unwrap();
    }
    assert!(run(&json!("reno")) != rust);
}

fn refusal(control: &Value) -> String {
    let members = Arc::new(own().with(vec![sojourn_abi::entry()]));
    Scenario::from_json(&scenario(control), &members).unwrap_err().to_string()
}

#[test]
fn another_version_is_refused_with_both_versions() {
    let changed = Path::new(PLACE).join(format!("seven-{}.c", std::process::id()));
    let text = include_str!("../../../../examples/own-control-c/aimd.c");
    std::fs::write(&changed, text.replace(".abi = SOJOURN_CCA_ABI", ".abi = 7")).unwrap();
    let library = build(changed.to_str().unwrap(), "seven");
    let told = refusal(&json!({ "kind": "library", "path": library }));
    let both = "is built for version 7 of the interface, this Sojourn has version 2";
    assert!(told.starts_with("flows.0.cca.path: ") && told.contains(both), "{told}");
}

#[test]
fn what_is_no_such_library_is_refused() {
    let told = refusal(&json!({ "kind": "library", "path": "/nowhere.so" }));
    assert!(told.contains("flows.0.cca.path: /nowhere.so: not loaded"), "{told}");
    let library = build("examples/own-control-c/aimd.c", "params");
    let told = refusal(&json!({ "kind": "library", "path": library, "beta": 0.5 }));
    assert!(told.starts_with("flows.0.cca.beta: unknown parameter 'beta'"), "{told}");
}

#[test]
fn the_header_and_its_mirror_agree() {
    use sojourn_abi::abi::{
        RawAck, RawControl, RawDecision, RawEvent, RawInit, RawLost, RawParam, RawSent,
    };
    let sizes = [
        ("init", size_of::<RawInit>()),
        ("ack", size_of::<RawAck>()),
        ("event", size_of::<RawEvent>()),
        ("sent", size_of::<RawSent>()),
        ("lost", size_of::<RawLost>()),
        ("decision", size_of::<RawDecision>()),
        ("param", size_of::<RawParam>()),
        ("control", size_of::<RawControl>()),
    ];
    let checks: String = sizes
        .iter()
        .map(|(name, size)| {
            format!("_Static_assert(sizeof(struct sojourn_{name}) == {size}, \"\");\n")
        })
        .collect();
    let source = Path::new(PLACE).join(format!("sizes-{}.c", std::process::id()));
    std::fs::write(&source, format!("#include \"sojourn_cca.h\"\n{checks}")).unwrap();
    build(source.to_str().unwrap(), "sizes");
}
