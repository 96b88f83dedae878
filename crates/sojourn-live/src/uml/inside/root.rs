//! The files that hosts see: the machine's, below what their programs write, which is in the kernel's
//! memory. What they write in the directory in which they start is common to all hosts, and the rest
//! their own.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::unistd::{chdir, pivot_root};

use super::super::failure::doing;
use crate::error::Error;
use crate::hosts::Host;

/// Where the hosts' files are in the agent's view: every machine has that directory, and neither the
/// agent nor its interpreter uses it.
const BASE: &str = "/sys";
/// The directory that all hosts share, below [`BASE`].
const COMMON: &str = "common";
/// Names of devices that are links to something else.
const LINKS: [(&str, &str); 4] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
];
/// What is mounted in a host's root directory, by kind, directory and options.
const MOUNTS: [(&str, &str, &str); 7] = [
    ("proc", "proc", ""),
    ("sysfs", "sys", ""),
    ("devtmpfs", "dev", ""),
    ("devpts", "dev/pts", "ptmxmode=0666,mode=0620"),
    ("tmpfs", "dev/shm", "mode=1777"),
    ("tmpfs", "tmp", "mode=1777"),
    ("tmpfs", "run", "mode=0755"),
];

/// Makes room for the hosts' files, and the directory that they share from this one of the machine.
/// Below it `hidden`, a relative path, is an empty directory, which they share, too.
///
/// # Errors
/// Those of the kernel.
pub(super) fn begin(shared: &Path, hidden: Option<&Path>) -> Result<(), Error> {
    put("tmpfs", Path::new(BASE), "mode=0755")?;
    let common = overlay(shared, COMMON)?;
    match hidden {
        Some(hidden) => put("tmpfs", &common.join(hidden), "mode=0755"),
        None => Ok(()),
    }
}

/// Makes the root directory of a host, in whose namespaces the calling thread is, and takes it there;
/// `shared` is where its directory is that all hosts share.
///
/// # Errors
/// Those of the kernel.
pub(super) fn make(number: usize, hosts: &[Host], shared: &Path) -> Result<(), Error> {
    let root = overlay(Path::new("/"), &format!("host-{number}"))?;
    for (kind, directory, options) in MOUNTS {
        put(kind, &root.join(directory), options)?;
    }
    for (name, target) in LINKS {
        let _ = symlink(target, root.join("dev").join(name)); // another host may have made it
    }
    let failed = |error: io::Error| doing("writing a host's settings", error);
    for (name, text) in settings(hosts, &hosts[number].names[0]) {
        replace(&root.join("etc").join(name), &text).map_err(failed)?;
    }
    let inside = root.join(shared.strip_prefix("/").unwrap_or(shared));
    let common = Path::new(BASE).join(COMMON).join("root");
    fs::create_dir_all(&inside).map_err(failed)?;
    let none: Option<&str> = None;
    // What is hidden in it is a mount of its own.
    mount(Some(&common), &inside, none, MsFlags::MS_BIND | MsFlags::MS_REC, none)
        .map_err(|error| doing("sharing a directory", error.into()))?;
    enter(&root).map_err(|error| doing("entering a host's root", error.into()))
}

/// Makes this directory, where something is mounted, the root of the calling thread's namespace of
/// mounts, which has the machine's no more. Whose root is another than its namespace's, as after
/// `chroot`, may not make namespaces of users: browsers confine their pages in them.
fn enter(root: &Path) -> nix::Result<()> {
    chdir(root)?;
    pivot_root(".", ".")?; // the old root is now mounted over the new one
    umount2(".", MntFlags::MNT_DETACH)?;
    chdir("/")
}

/// Where what programs have written in the shared directory is.
pub(super) fn written() -> PathBuf {
    Path::new(BASE).join(COMMON).join("up")
}

/// Mounts a directory of the machine, to be written; returns where.
///
/// # Errors
/// Those of the kernel.
pub(super) fn outside(directory: &Path) -> Result<PathBuf, Error> {
    let place = Path::new(BASE).join("outside");
    fs::create_dir_all(&place).map_err(|error| doing("making a directory", error))?;
    mount(Some("hostfs"), &place, Some("hostfs"), MsFlags::empty(), Some(directory))
        .map_err(|error| doing(&format!("mounting {}", directory.display()), error.into()))?;
    Ok(place)
}

/// Mounts a file system of the kernel's, in a directory that is made if there is none.
fn put(kind: &str, target: &Path, options: &str) -> Result<(), Error> {
    let failed = |error| doing(&format!("mounting {kind} at {}", target.display()), error);
    fs::create_dir_all(target).map_err(failed)?;
    mount(Some(kind), target, Some(kind), MsFlags::empty(), Some(options))
        .map_err(|error| failed(error.into()))
}

/// A view of a directory whose changes are kept apart under this name; returns where it is.
fn overlay(lower: &Path, name: &str) -> Result<PathBuf, Error> {
    let failed = |error| doing(&format!("making a view of {}", lower.display()), error);
    let [up, work, root] = ["up", "work", "root"].map(|part| Path::new(BASE).join(name).join(part));
    for directory in [&up, &work, &root] {
        fs::create_dir_all(directory).map_err(failed)?;
    }
    let lower = escaped(&lower.to_string_lossy());
    let options = format!("lowerdir={lower},upperdir={},workdir={}", up.display(), work.display());
    mount(Some("overlay"), &root, Some("overlay"), MsFlags::empty(), Some(options.as_str()))
        .map_err(|error| failed(error.into()))?;
    Ok(root)
}

/// A path as an option, in which some characters separate.
fn escaped(path: &str) -> String {
    let mut text = String::new();
    for c in path.chars() {
        if matches!(c, '\\' | ',' | ':') {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

/// Files below `/etc` of the host with this name: names are found in one of them only.
fn settings(hosts: &[Host], own: &str) -> [(&'static str, String); 5] {
    let mut table = "127.0.0.1 localhost\n::1 localhost ip6-localhost\n".to_owned();
    for Host { names, v4, v6, .. } in hosts {
        let names = names.join(" ");
        let (v4, v6) = (std::net::Ipv4Addr::from(*v4), std::net::Ipv6Addr::from(*v6));
        table.push_str(&format!("{v4} {names}\n{v6} {names}\n"));
    }
    let sources = "passwd: files\ngroup: files\nshadow: files\nhosts: files\nservices: files\n\
                   protocols: files\nnetworks: files\nethers: files\nrpc: files\n";
    [
        ("hosts", table),
        ("hostname", format!("{own}\n")),
        ("resolv.conf", String::new()),
        ("nsswitch.conf", sources.to_owned()),
        // What draws random numbers from the processor would draw others in each run.
        ("gcrypt/hwf.deny", "intel-rdrand\n".to_owned()),
    ]
}

/// Writes a file in the place of what was there, which may be a link that leads elsewhere.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::write(path, text),
    }
}

#[cfg(test)]
mod tests {
    use sojourn_sim::spec::EcnMode;

    use super::*;

    #[test]
    fn a_path_is_one_option_whatever_is_in_it() {
        assert_eq!(escaped("/a b/c"), "/a b/c");
        assert_eq!(escaped(r"/a:b,c\d"), r"/a\:b\,c\\d");
    }

    #[test]
    fn all_names_are_found_by_both_families() {
        let mut v6 = [0; 16];
        (v6[0], v6[1], v6[15]) = (0xfd, 0x77, 1);
        let names = ["sender", "flow-0.sender"].map(str::to_owned).to_vec();
        let host = Host { names, v4: [10, 80, 0, 1], v6, cca: None, ecn: EcnMode::Off };
        let [(_, table), (_, name), ..] = settings(&[host], "sender");
        let last: Vec<_> = table.lines().skip(2).collect();
        assert_eq!(last, ["10.80.0.1 sender flow-0.sender", "fd77::1 sender flow-0.sender"]);
        assert_eq!(name, "sender\n");
    }
}
