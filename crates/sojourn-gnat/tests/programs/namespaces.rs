//! A deployment as its user starts it: nodes in namespaces, and the unit for systemd.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use sojourn_base::error::FieldError;

#[path = "../../../sojourn-live/tests/needs/mod.rs"]
mod needs;

use needs::needs;

pub(super) const PROGRAM: &str = env!("CARGO_BIN_EXE_sojourn-gnat");

fn above() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(super) fn output(program: impl AsRef<Path>, arguments: &[&str]) -> Output {
    let mut command = Command::new(program.as_ref());
    command.args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// Deploys the report's three nodes, with flows that begin then, and with more options.
pub(super) fn deployed(folder: &Path, start: &str, more: &[&str]) -> PathBuf {
    let scenario = above().join("reproductions/gnat2021/experiments/3-node-system.toml");
    let text = fs::read_to_string(scenario).unwrap();
    let text = text.replace("start = \"10 s\"", &format!("start = \"{start}\""));
    let (file, out) = (folder.join("three.toml"), folder.join("out"));
    fs::write(&file, text).unwrap();
    let [file, to] = [&file, &out].map(|path| path.to_str().unwrap());
    let typed = [&["deploy", file, "--out", to, "--namespaces"], more].concat();
    let done = output(PROGRAM, &typed);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    out
}

/// The nodes, which end with this.
pub(super) struct Up(Child);

impl Up {
    /// Starts them, where the machine can.
    pub(super) fn start(out: &Path) -> Option<Self> {
        let mut up = Command::new(out.join("up"));
        up.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut up = Up(up.spawn().unwrap());
        let mut line = String::new();
        BufReader::new(up.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        if line.is_empty() {
            let told = FieldError::new("up", "ended; what it lacks is on standard error");
            needs("namespaces", &told);
            return None;
        }
        assert_eq!(line, "nodes 1 2 3 run; Ctrl-C ends them. Elsewhere:\n");
        Some(up)
    }

    /// The process group of all that ends with them.
    pub(super) fn id(&self) -> i32 {
        self.0.id() as i32
    }

    /// Ends them as their terminal does; not by SIGINT, which a shell in the background cannot heed.
    pub(super) fn end(&mut self) -> ExitStatus {
        output("sh", &["-c", "kill -s TERM -- -$0", &self.0.id().to_string()]);
        self.0.wait().unwrap()
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        if let Ok(None) = self.0.try_wait() {
            self.end();
        }
    }
}

#[test]
fn the_programs_of_a_deployment_are_those_of_a_shell() {
    let folder = tempfile::tempdir().unwrap();
    let out = deployed(folder.path(), "1 s", &[]);
    for name in ["up", "cut", "mend", "status"] {
        let path = out.join(name);
        let read = output("sh", &["-n", path.to_str().unwrap()]);
        assert!(read.status.success(), "{name}: {}", String::from_utf8_lossy(&read.stderr));
    }
    let told = |name: &str, argument: &str| {
        let done = output(out.join(name), &[argument]);
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let no_link = "cut: no link '1-4'; there are: 1-2 1-3 2-3 \n";
    assert_eq!(told("cut", "1-4"), (Some(2), no_link.to_owned()));
    let (status, stopped) = told("mend", "2-1");
    assert!(stopped.starts_with("mend: the nodes do not run; start /"), "{stopped}");
    assert_eq!(status, Some(2));
}

#[test]
fn nodes_in_namespaces_go_on_while_a_link_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let out = deployed(folder.path(), "1 s", &[]);
    let Some(mut up) = Up::start(&out) else { return };
    sleep(Duration::from_millis(3_000));
    let before = delivered(&out);
    assert!(before > 0, "{before}");
    assert!(output(out.join("cut"), &["2-1"]).status.success());
    // Until the outage is noticed; then what arrives has gone by the third node.
    sleep(Duration::from_millis(2_000));
    let noticed = delivered(&out);
    sleep(Duration::from_millis(1_000));
    assert!(delivered(&out) > noticed, "after {before} and {noticed} packets none arrived");
    assert!(output(out.join("mend"), &["1-2"]).status.success());
    assert!(up.end().success());
    assert!(!out.join("up.pid").exists());
}

/// Packets of all flows that have been delivered, by all nodes.
fn delivered(out: &Path) -> u64 {
    let told = output(out.join("status"), &["--format", "json"]);
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    let nodes = serde_json::Deserializer::from_slice(&told.stdout).into_iter();
    let nodes: Vec<serde_json::Value> = nodes.map(Result::unwrap).collect();
    assert_eq!(nodes.len(), 3);
    let flows = nodes.iter().flat_map(|node| node["flows"].as_array().unwrap());
    flows.filter_map(|flow| flow["delivered_packets"].as_u64()).sum()
}

#[test]
fn the_unit_is_one_for_systemd() {
    let folder = tempfile::tempdir().unwrap();
    let contrib = |name: &str| fs::read_to_string(above().join("contrib").join(name)).unwrap();
    let unit = folder.path().join("sojourn-gnat@.service");
    let text = contrib("sojourn-gnat@.service").replace("/usr/local/bin/sojourn-gnat", PROGRAM);
    fs::write(&unit, text).unwrap();
    // What nodes with programs need besides is read, too.
    let more = unit.with_extension("service.d");
    fs::create_dir(&more).unwrap();
    fs::write(more.join("applications.conf"), contrib("sojourn-gnat@applications.conf")).unwrap();
    let instance = unit.with_file_name("sojourn-gnat@1.service");
    let mut verify = Command::new("systemd-analyze");
    verify.args(["verify", "--man=no"]).arg(instance);
    match verify.output() {
        Err(error) => needs("systemd-analyze", &FieldError::new("", error.to_string())),
        Ok(done) => {
            let told = String::from_utf8_lossy(&done.stderr);
            assert!(done.status.success() && !told.contains("sojourn-gnat"), "{told}");
        }
    }
}
