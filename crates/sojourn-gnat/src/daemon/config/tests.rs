//! Configurations, and what is wrong with them word by word.

use std::fs::{Permissions, set_permissions, write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use sojourn_sliq::secure::Secret;

use super::Config;

const SCENARIO: &str =
    include_str!("../../../../../reproductions/gnat2021/experiments/3-node-system.toml");

/// What is written in the place of what, and the error.
const WRONG: [(&str, &str, &str); 14] = [
    ("emulate", "", ""),
    ("status =", "statu =", "1.toml: statu: unknown key 'statu'; did you mean 'status'? allowed: "),
    (
        "\"127.0.0.1:7101\"",
        "\"here\"",
        "1.toml: listen: \"here\" given; expected an IP address and a port, such as \"192.0.2.1:7100\" or \"[2001:db8::1]:7100\"",
    ),
    (
        "\"127.0.0.1:9464\"",
        "\"0.0.0.0:9464\"",
        "1.toml: metrics: 0.0.0.0:9464 is not of the loopback, where nobody else reads it; give \"127.0.0.1:9464\"",
    ),
    ("\"1\"", "\"4\"", "1.toml: node: unknown overlay node '4'; allowed: 1, 2, 3"),
    ("\"three", "\"four", "four.toml: No such file or directory (os error 2)"),
    ("\"1.key\"", "\"none.key\"", "none.key: No such file or directory (os error 2)"),
    ("\"2\"", "\"4\"", "1.toml: peers.0.node: unknown neighbour '4'; allowed: 2, 3"),
    ("\"3\"", "\"2\"", "1.toml: peers.1.node: '2' is peers.0 already; leave one of them out"),
    (
        ":7102",
        ":0",
        "1.toml: peers.0.address: 127.0.0.1:0 given; nobody is there; give the address and the port at which it listens",
    ),
    (
        ":7102",
        ":7101",
        "1.toml: peers.0.address: 127.0.0.1:7101 given; this node listens there; give the neighbour's",
    ),
    (
        "127.0.0.1:7102",
        "192.0.2.2:7102",
        "1.toml: peers.0.address: 192.0.2.2:7102 given; listen = \"127.0.0.1:7101\", of the loopback, cannot send there; listen = \"0.0.0.0:7101\" can",
    ),
    (
        "127.0.0.1:7102",
        "[::1]:7102",
        "1.toml: peers.0.address: [::1]:7102 given; listen = \"127.0.0.1:7101\", of the other IP version, cannot send there; listen = \"[::]:7101\" can",
    ),
    (
        "\n[[peers]]\nnode = \"3\"\n",
        "\n#",
        "1.toml: peers: '3' is missing, to which a link of '1' leads; add [[peers]] with node and key",
    ),
];

/// The configuration of node 1 of the report's three, with the keys that it needs beside it.
fn written(folder: &Path) -> String {
    write(folder.join("three.toml"), SCENARIO).unwrap();
    let key = |name: &str| Secret::create(&folder.join(name)).unwrap().public();
    key("1.key");
    format!(
        "node = \"1\"\noverlay = \"three.toml\"\nlisten = \"127.0.0.1:7101\"\nkey = \"1.key\"\n\
         status = \"1.sock\"\nmetrics = \"127.0.0.1:9464\"\n\
         [[peers]]\nnode = \"2\"\nkey = \"{}\"\naddress = \"127.0.0.1:7102\"\n\
         [[peers]]\nnode = \"3\"\nkey = \"{}\"\n",
        key("2.key"),
        key("3.key")
    )
}

fn read(folder: &Path, text: &str) -> Result<Config, String> {
    let file = folder.join("1.toml");
    write(&file, text).unwrap();
    let told = |error: super::Error| {
        assert_eq!(error.status(), 2);
        error.to_string().replace(&format!("{}/", folder.display()), "")
    };
    Config::read(&file).map_err(told)
}

#[test]
fn a_configuration_is_that_of_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let config = read(folder.path(), &written(folder.path())).unwrap();
    assert_eq!(config.key, folder.path().join("1.key"));
    assert_eq!(config.status, Some(folder.path().join("1.sock")));
    assert!(!config.emulate);
    let [two, three] = &config.peers[..] else { panic!("{:?}", config.peers) };
    assert_eq!((two.address.unwrap().port(), three.address), (7102, None));
    assert_eq!(config.scenario().unwrap().name, "gnat2021-3-node-system");
}

#[test]
fn what_is_wrong_is_told_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let right = written(folder.path());
    let line = |start: &str, nth: usize| {
        let mut lines = right.lines().filter(|line| line.starts_with(start));
        lines.nth(nth).unwrap().to_owned()
    };
    let keys = [line("key", 1), line("key", 2)];
    let keys = keys.each_ref().map(String::as_str);
    let of_keys = [
        (
            keys[0],
            "key = \"no\"",
            "1.toml: peers.0.key: no public key: expected 32 bytes in base64, as `sojourn-sliq key FILE` prints them",
        ),
        (
            keys[0],
            keys[1],
            "1.toml: peers.1.key: the same as of peers.0; each node has a key of its own",
        ),
    ];
    for (from, to, expected) in WRONG.into_iter().chain(of_keys) {
        let told = read(folder.path(), &right.replacen(from, to, 1)).err().unwrap_or_default();
        assert!(told.starts_with(expected), "{told}\n{expected}");
        assert_eq!(told.is_empty(), expected.is_empty(), "{from}");
    }
    set_permissions(folder.path().join("1.key"), Permissions::from_mode(0o644)).unwrap();
    let told = read(folder.path(), &right).unwrap_err();
    assert!(told.starts_with("1.key: others may use it (mode 644); "), "{told}");
}
