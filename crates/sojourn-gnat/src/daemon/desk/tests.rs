//! A desk and those who ask at it, well and badly.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use super::{Desk, PATIENCE};
use crate::daemon::told::{Shared, Told};
use crate::daemon::{Config, Error};

const REQUEST: &[u8] = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";

fn config(folder: &Path) -> Config {
    Config {
        file: folder.join("a.toml"),
        node: "a".to_owned(),
        overlay: folder.join("scenario.toml"),
        listen: ([127, 0, 0, 1], 0).into(),
        key: folder.join("a.key"),
        emulate: false,
        status: Some(folder.join("a.sock")),
        metrics: Some(([127, 0, 0, 1], 0).into()),
        applications: None,
        peers: Vec::new(),
    }
}

fn open(config: &Config) -> Result<Desk, Error> {
    let shared = Arc::new(Shared::default());
    shared.set(Told { node: "a".to_owned(), uptime_s: 2.5, ..Told::default() });
    Desk::open(config, &shared)
}

fn desk() -> (TempDir, Config, Desk) {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path());
    let desk = open(&config).unwrap();
    (folder, config, desk)
}

fn refusal(config: &Config) -> String {
    let folder = config.file.parent().unwrap().display();
    let error = open(config).unwrap_err();
    assert_eq!(error.status(), 2);
    error.to_string().replace(&format!("{folder}/"), "")
}

/// All that comes until the other end closes.
fn rest(stream: &mut impl Read) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

fn connect(desk: &Desk) -> TcpStream {
    let stream = TcpStream::connect(desk.metrics().unwrap()).unwrap();
    stream.set_read_timeout(Some(10 * PATIENCE)).unwrap();
    stream
}

fn asked(desk: &Desk, request: &[u8]) -> String {
    let mut stream = connect(desk);
    stream.write_all(request).unwrap();
    rest(&mut stream)
}

#[test]
fn many_may_ask_at_once() {
    let (_folder, config, desk) = desk();
    let socket = config.status.as_deref().unwrap();
    thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                let told: Told =
                    serde_json::from_str(&rest(&mut UnixStream::connect(socket).unwrap())).unwrap();
                assert_eq!((told.node.as_str(), told.uptime_s), ("a", 2.5));
                let page = asked(&desk, REQUEST);
                assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
                assert!(page.contains("\nsojourn_gnat_uptime_seconds 2.5\n"), "{page}");
            });
        }
    });
}

#[test]
fn a_socket_is_its_owners_and_goes_with_the_desk() {
    let (_folder, config, desk) = desk();
    let socket = config.status.as_deref().unwrap();
    assert_eq!(fs::metadata(socket).unwrap().permissions().mode() & 0o777, 0o600);
    drop(desk);
    assert!(!socket.exists());
}

#[test]
fn another_nodes_socket_stays() {
    let (_folder, mut config, desk) = desk();
    let socket = config.status.clone().unwrap();
    let message = "a.sock: a node answers here already; end it, or give `status` another path";
    assert_eq!(refusal(&config), message);
    // Somebody else has made one of this name since.
    fs::remove_file(&socket).unwrap();
    let other = UnixListener::bind(&socket).unwrap();
    drop(desk);
    assert!(socket.exists());
    // Nobody answers at it any more.
    drop(other);
    let desk = open(&config).unwrap();
    assert!(rest(&mut UnixStream::connect(&socket).unwrap()).starts_with("{\"node\":\"a\""));
    config.metrics = desk.metrics();
    config.status = None;
    let message = "Address already in use (os error 98); give `metrics` another address";
    assert_eq!(refusal(&config), format!("{}: {message}", desk.metrics().unwrap()));
}

#[test]
fn files_are_not_taken_for_sockets() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path());
    fs::write(folder.path().join("a.sock"), "kept").unwrap();
    let message = "a.sock: is a file, and no socket; give `status` another path";
    assert_eq!(refusal(&config), message);
    assert_eq!(fs::read(folder.path().join("a.sock")).unwrap(), b"kept");
}

#[test]
fn who_asks_badly_is_refused_and_holds_up_nobody_for_long() {
    let (_folder, config, desk) = desk();
    // Four that never end their requests, one of whom drips, and a fifth that waits for its turn.
    let mut halves: Vec<_> = (0..4).map(|_| connect(&desk)).collect();
    for half in &mut halves {
        half.write_all(b"GET /met").unwrap();
    }
    let mut drips = halves[0].try_clone().unwrap();
    thread::spawn(move || {
        while drips.write_all(b"x").is_ok() {
            thread::sleep(Duration::from_millis(50));
        }
    });
    assert!(asked(&desk, REQUEST).starts_with("HTTP/1.1 200 OK\r\n"));
    for half in &mut halves {
        assert_eq!(half.read(&mut [0; 10]).unwrap_or(0), 0);
    }
    let long = [b"GET /metrics HTTP/1.1\r\nCookie: ", &[b'x'; 40_000][..]].concat();
    assert!(asked(&desk, &long).starts_with("HTTP/1.1 431 "));
    assert!(asked(&desk, b"\0\xff\n\n").starts_with("HTTP/1.1 400 "));
    assert!(asked(&desk, b"GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
    // Words at the socket are not read as anything, and who leaves at once is not missed.
    let mut stream = UnixStream::connect(config.status.unwrap()).unwrap();
    let _ = stream.write_all(&[b'x'; 1_000]);
    drop((stream, connect(&desk)));
    assert!(asked(&desk, REQUEST).starts_with("HTTP/1.1 200 OK\r\n"));
}
