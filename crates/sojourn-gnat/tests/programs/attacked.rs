//! Two nodes with an attacker between them, who has one address for each: flows go on, and nothing
//! changes but what is counted.

use std::fs;
use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

use crate::attack::{ALL, Attack};
use crate::between::{Between, Side};
use crate::phase::{Phase, phase, told};

/// A flow of datagrams, eight of which are sent in 10 ms.
const OVERLAY: &str = r#"
duration = "60 min"
sample_interval = "1 s"
[topology]
kind = "graph"
nodes = [{ id = "1", kind = "overlay" }, { id = "2", kind = "overlay" }]
[[topology.links]]
id = "12"
from = "1"
to = "2"
rate = "10 Gbit/s"
delay = "1 ms"
[[flows]]
from = "1"
to = "2"
transport = "udp"
mss = 1000
traffic = { kind = "cbr", rate = "6.4 Mbit/s", size = "1000 B" }
service = { ceiling = "100 Mbit/s" }
"#;

/// The goodput that remains, of that without an attack.
const REMAINS: f64 = 0.9;

/// Two nodes and who is between them.
struct Attacked {
    between: Between,
    nodes: Vec<Child>,
    sockets: Vec<PathBuf>,
    /// Packets delivered in a second without an attack.
    peace: f64,
}

impl Drop for Attacked {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            let _ = node.kill();
            let _ = node.wait();
        }
    }
}

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_sojourn-gnat"))
}

/// Addresses that nobody has now.
fn addresses() -> [SocketAddr; 4] {
    let sockets = [(); 4].map(|()| UdpSocket::bind("127.0.0.1:0").unwrap());
    sockets.map(|socket| socket.local_addr().unwrap())
}

/// Lets a node take this address for its only neighbour's; returns the neighbour's key, and where the
/// node tells its status.
fn redirect(folder: &Path, node: &str, to: SocketAddr) -> (String, PathBuf) {
    let file = folder.join(format!("{node}.toml"));
    let mut config: toml::Table = fs::read_to_string(&file).unwrap().parse().unwrap();
    let peers = config["peers"].as_array_mut().unwrap();
    peers[0].as_table_mut().unwrap().insert("address".to_owned(), to.to_string().into());
    let key = peers[0]["key"].as_str().unwrap().to_owned();
    let status = folder.join(config["status"].as_str().unwrap());
    fs::write(&file, config.to_string()).unwrap();
    (key, status)
}

impl Attacked {
    fn new(name: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let scenario = folder.join("attacked.toml");
        fs::write(&scenario, OVERLAY).unwrap();
        let [one, two, here, there] = addresses();
        let mut deploy = program();
        deploy.arg("deploy").arg(&scenario).arg("--out").arg(&folder);
        deploy.args(["--address", &format!("1={one}"), "--address", &format!("2={two}")]);
        assert!(deploy.status().unwrap().success());
        let (key_of_two, first) = redirect(&folder, "1", here);
        let (key_of_one, second) = redirect(&folder, "2", there);
        let sides = [
            Side { here, node: one, key: key_of_one.parse().unwrap() },
            Side { here: there, node: two, key: key_of_two.parse().unwrap() },
        ];
        let node = |name| {
            let log = fs::File::create(folder.join(format!("{name}.log"))).unwrap();
            let mut node = program();
            node.arg("node").arg(folder.join(format!("{name}.toml"))).stderr(log);
            node.spawn().unwrap()
        };
        let between = Between::new(sides).unwrap();
        let (nodes, sockets) = (["1", "2"].map(node).into(), vec![first, second]);
        let mut attacked = Attacked { between, nodes, sockets, peace: 0.0 };
        attacked.begins();
        attacked
    }

    /// Waits until the flow has its rate.
    fn begins(&mut self) {
        for _ in 0..100 {
            thread::sleep(Duration::from_millis(50));
            if told(&self.sockets).is_ok_and(|told| told.delivered > 100) {
                break;
            }
        }
        let peace = self.phase(Attack::None, 1.0);
        assert!((700.0..900.0).contains(&peace.goodput), "{peace:?}");
        self.peace = peace.goodput;
    }

    fn phase(&self, attack: Attack, seconds: f64) -> Phase {
        let lasts = Duration::from_secs_f64(seconds);
        phase(&self.between, &self.sockets, attack, lasts).unwrap()
    }

    /// The flow goes on through an attack, and nothing changes but counters.
    fn stands(&self, name: &str, seconds: f64) -> Phase {
        let phase = self.phase(name.parse().unwrap(), seconds);
        assert!(phase.attacked > 0, "{phase:?}");
        assert!(phase.goodput > REMAINS * self.peace, "{phase:?}, {} before", self.peace);
        assert_eq!((phase.anew, phase.lost), (0, 0), "{phase:?}");
        println!("{name}: {phase:?}, {} before", self.peace);
        phase
    }
}

#[test]
fn a_flow_goes_on_whatever_comes_between() {
    let attacked = Attacked::new("attacked");
    for (name, reasons) in [
        ("drop 5%", &[][..]),
        ("replay", &["replayed"]),
        ("change 5%", &["unopened"]),
        ("inject", &["cookies", "mac", "stranger", "unopened"]),
    ] {
        let phase = attacked.stands(name, 0.6);
        for reason in reasons {
            assert!(phase.refused.contains_key(*reason), "{reason}: {phase:?}");
        }
    }
}

#[test]
#[ignore = "long"]
fn a_flow_goes_on_through_all_attacks_and_a_flood() {
    let attacked = Attacked::new("attacked_long");
    for name in ALL {
        attacked.stands(name, 3.0);
    }
}
