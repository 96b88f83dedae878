//! What a deployment writes, and what it refuses.

use std::fs::{read_to_string, write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use clap::Parser;

use super::deploy;
use crate::daemon::{Command, Config, Error};

const SCENARIO: &str =
    include_str!("../../../../../reproductions/gnat2021/experiments/3-node-system.toml");

#[derive(Parser)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

/// Deploys a scenario to the directory `out` beside it, with more options.
fn deployed(folder: &Path, scenario: &str, more: &str) -> Result<(), Error> {
    let (file, out) = (folder.join("three.toml"), folder.join("out"));
    write(&file, scenario).unwrap();
    let [file, out] = [&file, &out].map(|path| path.to_str().unwrap());
    let typed = ["sojourn-gnat", "deploy", file, "--out", out].into_iter();
    let typed = Program::try_parse_from(typed.chain(more.split_whitespace())).unwrap();
    let Command::Deploy(options) = typed.command else { panic!("deploy was typed") };
    deploy(&options)
}

fn told(folder: &Path, scenario: &str, more: &str) -> String {
    let error = deployed(folder, scenario, more).unwrap_err();
    assert_eq!(error.status(), 2);
    error.to_string().replace(&format!("{}/", folder.display()), "")
}

#[test]
fn nodes_of_a_deployment_know_each_other() {
    let folder = tempfile::tempdir().unwrap();
    deployed(folder.path(), SCENARIO, "").unwrap();
    let out = folder.path().join("out");
    let mode = out.join("1.key").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(read_to_string(out.join("three.toml")).unwrap(), SCENARIO);
    let configs =
        ["1", "2", "3"].map(|node| Config::read(&out.join(format!("{node}.toml"))).unwrap());
    let ports = configs.each_ref().map(|config| config.listen.port());
    assert_eq!(ports, [7101, 7102, 7103]);
    let [one, two, three] = &configs;
    let key = |of: &Config, node: &str| of.peers.iter().find(|peer| peer.node == node).unwrap().key;
    assert_eq!(key(one, "2"), key(three, "2"));
    assert_eq!(two.peers.iter().find(|peer| peer.node == "3").unwrap().address, Some(three.listen));
    assert!(!one.emulate);
}

#[test]
fn a_deployment_is_written_anew_with_its_keys_and_no_other_is_touched() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    deployed(folder.path(), SCENARIO, "").unwrap();
    let key = read_to_string(out.join("1.key")).unwrap();
    let addresses = ["1=192.0.2.1:7100", "2=192.0.2.2:7100", "3=192.0.2.3:7100"];
    let addresses = addresses.map(|one| format!("--address {one}")).join(" ");
    deployed(folder.path(), SCENARIO, &format!("--emulate {addresses}")).unwrap();
    assert_eq!(read_to_string(out.join("1.key")).unwrap(), key);
    let one = Config::read(&out.join("1.toml")).unwrap();
    assert_eq!(one.listen.to_string(), "0.0.0.0:7100");
    assert_eq!(one.peers[0].address.unwrap().to_string(), "192.0.2.2:7100");
    assert!(one.emulate);
    write(out.join("notes"), "").unwrap();
    assert_eq!(
        told(folder.path(), SCENARIO, ""),
        "--out out: has notes, which is not of this deployment; name another directory, or remove it"
    );
}

#[test]
fn namespaces_are_joined_by_a_link_for_each_of_the_scenario() {
    let folder = tempfile::tempdir().unwrap();
    deployed(folder.path(), SCENARIO, "--namespaces").unwrap();
    let out = folder.path().join("out");
    assert_eq!(
        read_to_string(out.join("links")).unwrap(),
        "1 2 link0 10.78.0.1 10.78.0.2\n1 3 link1 10.78.0.5 10.78.0.6\n2 3 link2 10.78.0.9 10.78.0.10\n"
    );
    let three = Config::read(&out.join("3.toml")).unwrap();
    let addresses = three.peers.iter().map(|peer| (&peer.node[..], peer.address.unwrap()));
    let mut addresses: Vec<_> = addresses.map(|(node, at)| (node, at.to_string())).collect();
    addresses.sort();
    assert_eq!(addresses, [("1", "10.78.0.5:7100".into()), ("2", "10.78.0.9:7100".into())]);
    assert!(three.emulate);
    let up = read_to_string(out.join("up")).unwrap();
    assert!(up.contains("for node in 1 2 3; do") && !up.contains('@'), "{up}");
    // Nothing of it is left beside a deployment of another kind.
    assert!(told(folder.path(), SCENARIO, "").contains("not of this deployment"));
}

#[test]
fn programs_have_addresses_and_groups() {
    let folder = tempfile::tempdir().unwrap();
    let read = || Config::read(&folder.path().join("out/2.toml")).unwrap().applications;
    deployed(folder.path(), SCENARIO, "").unwrap();
    assert_eq!(read(), None);
    let groups = "--group 239.1.1.1=2,3 --group 239.1.1.2=1";
    deployed(folder.path(), SCENARIO, &format!("--applications {groups}")).unwrap();
    let told = read().unwrap();
    let members = told.members.iter().map(|one| format!("{} {}", one.node, one.prefix));
    let members: Vec<_> = members.collect();
    assert_eq!(members, ["1 10.9.1.0/24", "2 10.9.2.0/24", "3 10.9.3.0/24"]);
    let groups = told.groups.iter().map(|one| format!("{} {:?}", one.address, one.receivers));
    let groups: Vec<_> = groups.collect();
    assert_eq!(groups, [r#"239.1.1.1 ["2", "3"]"#, r#"239.1.1.2 ["1"]"#]);
    assert!(told.services.is_empty());
}

#[test]
fn what_cannot_run_by_itself_is_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let without = SCENARIO.replacen("service = {", "#", 1);
    let renamed = SCENARIO.replace("\"3\"", "\"a/b\"");
    let plain = SCENARIO.replace(", kind = \"overlay\", restamp = true", "");
    let plain = plain.replace("service = {", "#");
    let long = SCENARIO.replace("mss = 1024", "mss = 1400");
    for (scenario, more, expected) in [
        (&without[..], "", "three.toml: flows.0: passes 1-2 without a service; "),
        (&plain, "", "three.toml: topology.nodes: none is a node of an overlay; "),
        (&long, "", "three.toml: flows.0.mss: 1400 given; allowed: up to 1388, "),
        (&renamed, "", "three.toml: topology.nodes: 'a/b' cannot name files; "),
        (
            SCENARIO,
            "--address 4=192.0.2.1:1",
            "--address: unknown overlay node '4'; allowed: 1, 2, 3",
        ),
        (SCENARIO, "--group 239.1.1.1=2", "--group: given without --applications; give that, too"),
        (
            SCENARIO,
            "--applications --group 239.1.1.1=2,9",
            "--group: unknown overlay node '9'; allowed: 1, 2, 3",
        ),
        (
            SCENARIO,
            "--namespaces --group 192.0.2.1=2",
            "--group: 192.0.2.1 given; allowed: a multicast address, such as 239.1.1.1, once",
        ),
        (
            SCENARIO,
            "--address 1=192.0.2.1:1",
            "--address: 2 has none; give one for each node, or for no node",
        ),
    ] {
        let told = told(folder.path(), scenario, more);
        assert!(told.starts_with(expected), "{told}");
        assert!(!folder.path().join("out").exists(), "{expected}");
    }
}
