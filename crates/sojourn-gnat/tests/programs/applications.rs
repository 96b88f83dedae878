//! Programs at overlay nodes, which know nothing of the overlay: this test's own program in other roles.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::{self, BufRead, BufReader, ErrorKind, Lines, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream, UdpSocket};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::{self, sleep, spawn};
use std::time::Duration;

use super::namespaces::{PROGRAM, Up, deployed, output};

const GROUP: &str = "239.1.1.1";
const TCP: u16 = 8_080;
const UDP: u16 = 7_000;
/// What a program is to do is told by this variable.
const ROLE: &str = "SOJOURN_TEST_ROLE";
/// What a program says begins with this, as the harness says things, too.
const SAYS: &str = "says ";
/// Nothing takes as long as this, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often what is not there yet is tried again.
const AGAIN: Duration = Duration::from_millis(50);
/// After so many bytes a program says how far it is.
const STEP: usize = 250_000;

/// What a program at a node does, in the process that `Nodes::start` starts.
#[test]
#[ignore = "it is started by the test below"]
fn role() {
    let Ok(role) = env::var(ROLE) else { return };
    let words: Vec<_> = role.split(' ').collect();
    let said = match words[..] {
        ["serve", node] => serve(node.parse().unwrap()),
        ["echo", to, bytes] => echo(to, bytes.parse().unwrap()),
        ["ask", to, answers] => ask(to, answers.parse().unwrap()),
        _ => panic!("{role}"),
    };
    match said {
        Ok(said) => say(&said),
        Err(error) => say(&format!("{:?}", error.kind())),
    }
}

fn say(what: &str) {
    println!("\n{SAYS}{what}");
}

/// Tries until it succeeds: a node may not have its device yet, nor know its ways.
fn patiently<T>(mut again: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let mut left = PATIENCE.as_millis() / AGAIN.as_millis();
    loop {
        match again() {
            Err(_) if left > 0 => sleep(AGAIN),
            done => return done,
        }
        left -= 1;
    }
}

/// Sends back what comes, over TCP and UDP and of the group.
fn serve(node: Ipv4Addr) -> io::Result<String> {
    let (listener, socket) =
        (TcpListener::bind(("0.0.0.0", TCP))?, UdpSocket::bind(("0.0.0.0", UDP))?);
    patiently(|| socket.join_multicast_v4(&GROUP.parse().unwrap(), &node))?;
    say("ready");
    spawn(move || {
        let mut bytes = [0; 2_000];
        loop {
            // An answer to one that has gone is an error of the next call.
            let Ok((length, from)) = socket.recv_from(&mut bytes) else { continue };
            socket.send_to(&bytes[..length], from).unwrap_or_default();
        }
    });
    for stream in listener.incoming() {
        let stream = stream?;
        spawn(move || {
            io::copy(&mut &stream, &mut &stream).and_then(|_| stream.shutdown(Shutdown::Write))
        });
    }
    Ok("served".to_owned())
}

/// Bytes that tell whether one is missing or at another place.
fn pattern(from: usize, length: usize) -> Vec<u8> {
    (from..from + length).map(|at| (at * 31 + at / 251) as u8).collect()
}

/// Sends bytes by TCP and reads them again, to the stream's end.
fn echo(to: &str, all: usize) -> io::Result<String> {
    let stream = patiently(|| TcpStream::connect(to))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    thread::scope(|scope| {
        let writes = scope.spawn(|| write(&stream, all));
        let read = read(&stream, all);
        let wrote = writes.join().unwrap();
        // The system tells of a reset once only, to the one who reads or to the one who writes.
        match (read, wrote) {
            (Ok(_), Err(error)) => Err(error),
            (read, _) => read,
        }
    })
}

fn write(mut stream: &TcpStream, all: usize) -> io::Result<()> {
    for from in (0..all).step_by(10_000) {
        stream.write_all(&pattern(from, 10_000.min(all - from)))?;
    }
    stream.shutdown(Shutdown::Write)
}

fn read(mut stream: &TcpStream, all: usize) -> io::Result<String> {
    let (mut at, mut bytes) = (0, [0; 10_000]);
    loop {
        let length = stream.read(&mut bytes)?;
        if length == 0 {
            return Ok(if at == all { "whole".to_owned() } else { format!("ended after {at}") });
        }
        if bytes[..length] != pattern(at, length) {
            return Ok(format!("other bytes after {at}"));
        }
        if (at + length) / STEP > at / STEP {
            say("some");
        }
        at += length;
    }
}

/// Sends datagrams of several sizes to an address, until each has come back from so many others.
fn ask(to: &str, answers: usize) -> io::Result<String> {
    let socket = patiently(|| UdpSocket::bind("10.9.1.1:0"))?;
    socket.set_read_timeout(Some(AGAIN))?;
    socket.set_multicast_ttl_v4(8)?;
    let mut who = BTreeSet::new();
    for length in [1, 500, 1_360] {
        let mut from = BTreeSet::new();
        let (sent, mut got) = (pattern(length, length), [0; 2_000]);
        patiently(|| {
            socket.send_to(&sent, to)?;
            while from.len() < answers {
                let (length, address) = socket.recv_from(&mut got)?;
                if got[..length] == sent {
                    from.insert(address.to_string());
                }
            }
            Ok(())
        })?;
        who.extend(from);
    }
    Ok(who.into_iter().collect::<Vec<_>>().join(" "))
}

/// A program at a node, and what it says.
struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Running {
    /// The next thing that it says.
    fn said(&mut self) -> String {
        let mut said = self.lines.by_ref().map(Result::unwrap);
        said.find_map(|line| line.strip_prefix(SAYS).map(str::to_owned)).expect("it says something")
    }

    /// How it went.
    fn result(mut self) -> String {
        let mut said = self.said();
        while said == "some" {
            said = self.said();
        }
        self.child.wait().unwrap();
        said
    }

    /// It has gone on for so many steps.
    fn goes_on(&mut self, steps: usize) {
        (0..steps).for_each(|_| assert_eq!(self.said(), "some"));
    }
}

/// A deployment, and the processes that are started in it, which end with it.
struct Nodes {
    out: PathBuf,
    up: Up,
    started: Vec<Child>,
}

impl Nodes {
    fn command(&self, node: u16, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.out.join("in"));
        command.arg(node.to_string()).arg(program).args(arguments);
        command.current_dir(&self.out).process_group(self.up.id()).stdin(Stdio::null());
        command
    }

    /// Starts a program at a node.
    fn start(&self, node: u16, role: &str) -> Running {
        let arguments = ["--exact", "applications::role", "--ignored", "--nocapture"];
        let mut command = self.command(node, &env::current_exe().unwrap(), &arguments);
        let mut child = command.env(ROLE, role).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Running { child, lines }
    }

    /// Starts a server at a node, which lasts.
    fn serve(&mut self, node: u16) {
        let mut running = self.start(node, &format!("serve 10.9.{node}.1"));
        assert_eq!(running.said(), "ready");
        self.started.push(running.child);
    }

    /// Kills a node's process, which can do nothing about it, and starts it again.
    fn restart(&mut self, node: u16) {
        let [pid] = self.processes(node)[..] else { panic!("{:?}", self.processes(node)) };
        assert!(output("sh", &["-c", "kill -s KILL $0", &pid.to_string()]).status.success());
        // Until it is gone it has the device that the new one makes.
        let process = PathBuf::from(format!("/proc/{pid}"));
        patiently(|| match process.exists() {
            true => Err(ErrorKind::WouldBlock.into()),
            false => Ok(()),
        })
        .unwrap();
        let file = format!("{node}.toml");
        let mut command = self.command(node, Path::new(PROGRAM), &["node", &file]);
        self.started.push(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    }

    /// The processes of this deployment's node.
    fn processes(&self, node: u16) -> Vec<u32> {
        let wanted = format!("{PROGRAM}\0node\0{node}.toml\0");
        let is_it = |pid: &u32| {
            let of = PathBuf::from(format!("/proc/{pid}"));
            fs::read_to_string(of.join("cmdline")).is_ok_and(|line| line == wanted)
                && fs::read_link(of.join("cwd")).is_ok_and(|folder| folder == self.out)
        };
        let all = fs::read_dir("/proc").unwrap().flatten();
        let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(is_it).collect()
    }

    fn link(&self, verb: &str, link: &str) {
        assert!(output(self.out.join(verb), &[link]).status.success());
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        self.up.end();
        for child in &mut self.started {
            child.wait().unwrap();
        }
    }
}

/// One deployment for all, since each takes its time to find its ways.
#[test]
fn programs_use_the_overlay_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    // The scenario's own flows begin when all this is over.
    let out = deployed(folder.path(), "40 s", &["--group", &format!("{GROUP}=2,3")]);
    let Some(up) = Up::start(&out) else { return };
    let mut nodes = Nodes { out: fs::canonicalize(out).unwrap(), up, started: Vec::new() };
    (2..=3).for_each(|node| nodes.serve(node));
    let all = nodes.start(1, "echo 10.9.2.1:8080 1000000");
    assert_eq!(nodes.start(1, "ask 10.9.2.1:7000 1").result(), "10.9.2.1:7000");
    assert_eq!(nodes.start(1, "ask 239.1.1.1:7000 2").result(), "10.9.2.1:7000 10.9.3.1:7000");
    assert_eq!(all.result(), "whole");
    assert_eq!(nodes.start(1, "echo 10.9.2.1:81 1000").result(), "ConnectionReset");
    assert_eq!(nodes.start(1, "echo 10.9.2.9:81 1000").result(), "ConnectionReset", "nobody");

    let mut all = nodes.start(1, "echo 10.9.2.1:8080 4000000");
    all.goes_on(2);
    nodes.link("cut", "1-2");
    // More than is on its way: these come by the third node.
    all.goes_on(4);
    nodes.restart(3);
    all.goes_on(4);
    nodes.link("mend", "1-2");
    assert_eq!(all.result(), "whole");

    let mut broken = nodes.start(1, "echo 10.9.2.1:8080 100000000");
    broken.goes_on(1);
    nodes.restart(2);
    assert_eq!(broken.result(), "ConnectionReset");
    nodes.start(1, "echo 10.9.3.1:8080 1000").result();
    assert_eq!(
        nodes.start(1, "echo 10.9.2.1:8080 1000").result(),
        "whole",
        "once it is there again"
    );
}
