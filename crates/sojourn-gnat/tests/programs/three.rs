//! Three nodes as programs, on this machine's loopback, with the links of their scenario: they do what
//! the simulation does; priorities change by a signal; one is killed, and the others go on without it;
//! it is started anew, and used again. What was sent is accounted for.

use std::fmt::Write;
use std::fs;
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use sojourn_base::units::{Span, Time};
use sojourn_sim::catalogue::core;
use sojourn_sim::{Scenario, Simulation};
use sojourn_sliq::secure::Secret;

/// Two flows share both paths from 1 to 2 by their priorities.
const SCENARIO: &str = r#"
duration = "60 s"
[topology]
kind = "graph"
nodes = [
  { id = "1", kind = "overlay", k = 1e12 },
  { id = "2", kind = "overlay", k = 1e12 },
  { id = "3", kind = "overlay", k = 1e12 },
]
links = [
  { id = "12", from = "1", to = "2", LINK },
  { id = "13", from = "1", to = "3", LINK },
  { id = "32", from = "3", to = "2", LINK },
]
[[flows]]
FLOW
service = { priority = 1, ceiling = "50 Mbit/s" }
[[flows]]
FLOW
service = { priority = 3, ceiling = "50 Mbit/s" }
"#;
const LINK: &str =
    r#"rate = "10 Mbit/s", delay = "5 ms", queue = { kind = "fifo", limit = "25 kB" }"#;
const FLOW: &str = r#"
from = "1"
to = "2"
transport = "udp"
mss = 1024
start = "500 ms"
stop = "7 s"
traffic = { kind = "cbr", rate = "15 Mbit/s", size = "1024 B" }"#;

/// A node's program.
struct Running {
    child: Child,
    status: PathBuf,
}

impl Running {
    fn start(folder: &Path, node: usize) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sojourn-gnat"));
        command.arg("node").arg(folder.join(format!("{node}.toml")));
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Running { child, status: folder.join(format!("{node}.sock")) }
    }

    /// What it tells; null while it does not answer.
    fn told(&self) -> Value {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sojourn-gnat"));
        command.arg("status").arg(&self.status).args(["--format", "json"]);
        serde_json::from_slice(&command.output().unwrap().stdout).unwrap_or_default()
    }

    /// Lets it read its configuration again.
    fn reload(&self) {
        let hup = Command::new("kill").args(["-HUP", &self.child.id().to_string()]).status();
        assert!(hup.unwrap().success());
    }

    /// Ends it at once, as `kill -9` does.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn number(told: &Value, path: &str) -> f64 {
    told.pointer(path).and_then(Value::as_f64).unwrap_or_default()
}

/// Delivered bytes of both flows, and when, in seconds.
fn delivered(told: &Value) -> (f64, [f64; 2]) {
    let bytes = [0, 1].map(|flow| number(told, &format!("/flows/{flow}/delivered_bytes")));
    (number(told, "/uptime_s"), bytes)
}

/// Rates of both flows in Mbit/s between two of these.
fn rates(from: (f64, [f64; 2]), to: (f64, [f64; 2])) -> [f64; 2] {
    [0, 1].map(|flow| 8e-6 * (to.1[flow] - from.1[flow]) / (to.0 - from.0))
}

/// Writes configurations and keys of the three nodes.
fn deploy(folder: &Path) -> String {
    // What an earlier run has left.
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).unwrap();
    let scenario = SCENARIO.replace("LINK", LINK).replace("FLOW", FLOW);
    fs::write(folder.join("three.toml"), &scenario).unwrap();
    let sockets = [(); 3].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
    let addresses = sockets.map(|socket| socket.local_addr().unwrap());
    let key = |node| Secret::create(&folder.join(format!("{node}.key"))).unwrap().public();
    let keys = [1, 2, 3].map(key);
    for node in 1..=3 {
        let mut text = format!(
            "node = \"{node}\"\noverlay = \"three.toml\"\nlisten = \"{}\"\nkey = \"{node}.key\"\n\
             emulate = true\nstatus = \"{node}.sock\"\n",
            addresses[node - 1]
        );
        for peer in (1..=3).filter(|peer| *peer != node) {
            let (key, address) = (keys[peer - 1], addresses[peer - 1]);
            let keys = format!("key = \"{key}\"\naddress = \"{address}\"");
            writeln!(text, "[[peers]]\nnode = \"{peer}\"\n{keys}").unwrap();
        }
        fs::write(folder.join(format!("{node}.toml")), text).unwrap();
    }
    scenario
}

/// Rates of the flows in the simulation between two times in seconds.
fn simulated(scenario: &str, from: f64, to: f64) -> [f64; 2] {
    let catalogue = Arc::new(sojourn_gnat::add(core()));
    let scenario = Scenario::from_toml(scenario, &catalogue).unwrap();
    let mut simulation = Simulation::new(&scenario).unwrap();
    let [from, to] = [from, to].map(|seconds| {
        simulation.advance(Time::ZERO + Span::from_secs_f64(seconds)).unwrap();
        let bytes = [0, 1].map(|flow| simulation.flow(flow).received.unwrap().delivered_bytes);
        (seconds, bytes.map(|bytes| bytes as f64))
    });
    rates(from, to)
}

fn seconds(seconds: f64) {
    sleep(Duration::from_secs_f64(seconds));
}

#[test]
fn three_programs_do_what_is_simulated_and_go_on_without_one() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("three");
    let scenario = deploy(&folder);
    let mut nodes = [1, 2, 3].map(|node| Running::start(&folder, node));
    seconds(1.6);
    let first = delivered(&nodes[1].told());
    seconds(1.4);
    let second = delivered(&nodes[1].told());
    let (expected, got) = (simulated(&scenario, first.0, second.0), rates(first, second));
    for (expected, got) in expected.into_iter().zip(got) {
        assert!((got / expected - 1.0).abs() < 0.05, "{got} Mbit/s, {expected} simulated");
    }

    let turned = scenario.replace("= 1, c", "= 9, c").replace("= 3, c", "= 1, c");
    fs::write(folder.join("three.toml"), turned.replace("= 9, c", "= 3, c")).unwrap();
    nodes.iter().for_each(Running::reload);
    seconds(0.5);
    let turned = delivered(&nodes[1].told());
    seconds(0.5);
    let [high, low] = rates(turned, delivered(&nodes[1].told()));
    assert!(high > 2.0 * low && high + low > 14.0, "{high} and {low} Mbit/s");

    nodes[2].kill();
    seconds(0.8);
    let third = delivered(&nodes[1].told());
    seconds(0.5);
    let alone: f64 = rates(third, delivered(&nodes[1].told())).iter().sum();
    assert!((7.0..10.0).contains(&alone), "{alone} Mbit/s by the other way");

    nodes[2] = Running::start(&folder, 3);
    seconds(1.3);
    let fourth = delivered(&nodes[1].told());
    seconds(0.5);
    let again: f64 = rates(fourth, delivered(&nodes[1].told())).iter().sum();
    assert!(again > 14.0, "{again} Mbit/s with it again");

    seconds(1.4);
    let told = [0, 1].map(|node| nodes[node].told());
    let sum = |node: &Value, which: &str| -> f64 {
        [0, 1].iter().map(|flow| number(node, &format!("/flows/{flow}/{which}"))).sum()
    };
    let kept = |which: &str| number(&told[0], which) + number(&told[1], which);
    let sent = sum(&told[0], "sent_packets");
    let arrived = sum(&told[1], "delivered_packets");
    let [refused, lost, held] = ["refused", "lost", "held"].map(|w| kept(&format!("/packets/{w}")));
    assert!(sent > 15_000.0 && lost > 0.0, "{sent} sent, {lost} lost");
    // What the dead one held, and what it had passed on but not acknowledged, nobody can know.
    let unknown = sent - arrived - refused - lost - held;
    assert!(unknown.abs() < 100.0, "{sent}: {arrived}, {refused}, {lost}, {held}: {unknown}");
}
