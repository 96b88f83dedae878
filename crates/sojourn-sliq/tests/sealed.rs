//! The programs with keys: who is let in, and what is refused.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{Server, client, told};

/// Two key files in a folder of their own, and their public keys.
struct Keys {
    files: [String; 2],
    public: [String; 2],
}

fn key(file: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sojourn-sliq"));
    command.arg("key").arg(file).output().unwrap()
}

fn keys(name: &str) -> (PathBuf, Keys) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let files = ["server.key", "client.key"].map(|name| folder.join(name));
    let public = files.each_ref().map(|file| {
        let made = key(file);
        assert!(made.status.success(), "{made:?}");
        // What is there is kept.
        assert_eq!(key(file).stdout, made.stdout);
        String::from_utf8(made.stdout).unwrap().trim().to_owned()
    });
    (folder, Keys { files: files.map(|file| file.to_str().unwrap().to_owned()), public })
}

#[test]
fn a_sealed_file_arrives_intact_over_a_path_that_loses() {
    let (folder, Keys { files, public }) = keys("sealed");
    let (from, to) = (folder.join("sent"), folder.join("received"));
    let bytes: Vec<u8> = (0..500_000u32).flat_map(|i| (i % 65_521).to_le_bytes()).collect();
    std::fs::write(&from, &bytes).unwrap();
    let lets = ["--key", &files[0], "--peer", &public[1], "--drop", "0.05"];
    let mut server =
        Server::start(&[&lets[..], &["--once", "--out", to.to_str().unwrap()]].concat());
    // A stranger, and one who takes somebody else for the server, get no answer.
    let stranger = ["--key", &files[0], "--peer", &public[0], "--give-up", "300 ms"];
    let mistaken = ["--key", &files[1], "--peer", &public[1], "--give-up", "300 ms"];
    let open = ["--bytes", "1000", "--give-up", "300 ms"];
    let others = [&stranger[..], &mistaken].map(|options| client(&server.address, options));
    for other in others {
        let output = other.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert_eq!(told(&output)["end"], "silent");
    }
    let mut unsealed = client(&server.address, &open);
    let sends = ["--key", &files[1], "--peer", &public[0], "--drop", "0.05", "--payload", "1398"];
    let sends = [&sends[..], &["--file", from.to_str().unwrap()]].concat();
    let sent = client(&server.address, &sends).wait_with_output().unwrap();
    assert!(sent.status.success(), "{sent:?}");
    assert!(server.child.wait().unwrap().success());
    assert!(std::fs::read(&to).unwrap() == bytes);
    unsealed.kill().unwrap();
    unsealed.wait().unwrap();
}

#[test]
fn what_is_missing_is_named() {
    let (_, Keys { files, public }) = keys("named");
    let known = format!("{}@127.0.0.1:9", public[0]);
    for (server, options, named) in [
        ("127.0.0.1:9", &["--key", &files[0]][..], "--peer"),
        ("127.0.0.1:9", &["--peer", &public[0]], "--key"),
        ("127.0.0.1:9", &["--key", &files[0], "--peer", "me"], "--peer"),
        ("127.0.0.1:9", &["--key", &files[0], "--peer", &known], "--peer"),
        ("127.0.0.1:9", &["--key", "/nosuch", "--peer", &public[0]], "--key /nosuch"),
        ("192.0.2.1:9", &["--bytes", "1"], "--insecure"),
        ("192.0.2.1:9", &["--insecure", "--key", &files[0], "--peer", &public[0]], "--insecure"),
        (
            "127.0.0.1:9",
            &["--key", &files[0], "--peer", &public[0], "--payload", "1399"],
            "--payload",
        ),
    ] {
        let output = client(server, options).wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(named), "{output:?}");
    }
}
