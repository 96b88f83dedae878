//! The program as a user starts it: files over a path that loses a fifth, a peer that is killed,
//! garbage from a third party.

mod common;

use std::io::Read;
use std::net::UdpSocket;
use std::path::PathBuf;
use std::process::Output;
use std::time::Duration;

use common::{Server, client, told};

/// A server that ends after its first client.
fn server(options: &[&str]) -> Server {
    Server::start(&[&["--once"], options].concat())
}

/// What a server says that ends by itself.
fn end(mut server: Server) -> Output {
    let status = server.child.wait().unwrap();
    let mut stdout = Vec::new();
    server.child.stdout.as_mut().unwrap().read_to_end(&mut stdout).unwrap();
    Output { status, stdout, stderr: Vec::new() }
}

/// A file of its own for each test.
fn file(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&path);
    path
}

#[test]
fn a_file_arrives_intact_over_a_path_that_loses_a_fifth() {
    let (from, to) = (file("sent"), file("received"));
    let bytes: Vec<u8> = (0..2_000_000u32).flat_map(|i| (i % 65_521).to_le_bytes()).collect();
    std::fs::write(&from, &bytes).unwrap();
    let server = server(&["--drop", "0.2", "--out", to.to_str().unwrap()]);
    let sends = ["--drop", "0.2", "--cca", "cubic,bbr", "--file", from.to_str().unwrap()];
    let sent = client(&server.address, &sends).wait_with_output().unwrap();
    let got = end(server);
    assert!(sent.status.success() && got.status.success(), "{sent:?} {got:?}");
    assert!(std::fs::read(&to).unwrap() == bytes);
    // Of a packet that arrives a fifth of the ACKs are lost; others name it as well.
    let again = told(&sent)["retransmissions"].as_f64().unwrap() / 8_000.0;
    assert!((0.2..0.4).contains(&again), "{again}");
}

#[test]
fn an_adaptive_stream_delivers_what_it_promised() {
    let server = server(&["--drop", "0.1", "--digest"]);
    let stream = ["--reliability", "adaptive", "--deadline", "50 ms", "--retransmissions", "20"];
    let options = ["--ordered", "--drop", "0.1", "--digest", "--bytes", "1 MB"];
    let sent = client(&server.address, &[&stream[..], &options].concat());
    let sent = sent.wait_with_output().unwrap();
    let got = end(server);
    assert_eq!(told(&sent)["sent_digest"], told(&got)["received_digest"]);
    assert!(told(&sent)["groups"].is_object());
}

#[test]
fn a_killed_peer_is_reported_and_a_stranger_is_not_heeded() {
    let server = server(&["--give-up", "400 ms"]);
    let mut sender = client(&server.address, &["--for", "60 s"]);
    let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
    for round in 0..40u8 {
        for size in 0..40 {
            let garbage: Vec<u8> = (0..size).map(|i| i ^ round.wrapping_mul(size)).collect();
            stranger.send_to(&garbage, &server.address).unwrap();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    sender.kill().unwrap();
    sender.wait().unwrap();
    let got = end(server);
    assert_eq!(got.status.code(), Some(1));
    assert_eq!(told(&got)["end"], "silent");
    assert!(told(&got)["received_bytes"].as_u64() > Some(0));
}

#[test]
fn bad_input_names_the_option() {
    for (options, named) in [
        (["--cca", "nosuch"], "--cca nosuch"),
        (["--file", "/nosuch"], "--file /nosuch"),
        (["--drop", "2"], "--drop"),
        (["--bytes", "many"], "--bytes"),
    ] {
        let output = client("127.0.0.1:9", &options).wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(named), "{output:?}");
    }
}
