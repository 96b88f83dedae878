//! Hosts inside a kernel: namespaces of the network, of the host's name and of mounts, with a card and
//! addresses of both families.

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use nix::sched::{CloneFlags, unshare};

use super::super::devices::{Family, add_address, add_default_route, move_to, set_up};
use super::super::failure::{broken, doing};
use super::super::place::Place;
use super::root;
use crate::controls::tcp_ecn;
use crate::error::Error;
use crate::hosts::{Host, HostTable};
use crate::namespace::{self, Namespace};
use crate::sys::Room;

/// Largest packets of hosts, as on the Internet.
const MTU: u32 = 1500;
/// The kinds of namespaces that a host has, with their names.
const KINDS: [(CloneFlags, &str); 3] = [
    (CloneFlags::CLONE_NEWNET, "net"),
    (CloneFlags::CLONE_NEWUTS, "uts"),
    (CloneFlags::CLONE_NEWNS, "mnt"),
];

/// Makes the hosts, whose cards are in the first namespace, `world`; they share the directory of
/// `place`. They exist as long as what is returned.
///
/// # Errors
/// If the kernel refuses something.
pub(in super::super) fn make(
    table: &HostTable,
    world: &Namespace,
    place: &Place,
) -> Result<Vec<Arc<Room>>, Error> {
    allow_controls().map_err(|error| doing("allowing controls", error))?;
    root::begin(&place.cwd, place.hidden_below())?;
    (0..table.hosts.len())
        .map(|number| {
            // A thread of its own: the others stay where they are.
            let made = thread::scope(|threads| {
                threads.spawn(|| make_one(number, table, world, &place.cwd)).join()
            });
            made.unwrap_or_else(|_| Err(broken("making a host inside the kernel failed")))
        })
        .map(|room| room.map(Arc::new))
        .collect()
}

/// Allows all controls of the kernel as defaults of hosts, which the first namespace alone can.
fn allow_controls() -> io::Result<()> {
    let there = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")?;
    namespace::set("ipv4/tcp_allowed_congestion_control", there.trim())
}

fn make_one(
    number: usize,
    table: &HostTable,
    world: &Namespace,
    shared: &Path,
) -> Result<Room, Error> {
    let name = &table.hosts[number].names[0];
    let failed = |error: io::Error| doing(&format!("making the host {name}"), error);
    let kinds = KINDS.iter().map(|(kind, _)| *kind).collect();
    unshare(kinds).map_err(|error| failed(error.into()))?;
    connect(number, &table.hosts[number], world).map_err(failed)?;
    fs::write("/proc/sys/kernel/hostname", name).map_err(failed)?;
    root::make(number, &table.hosts, shared)?;
    let open = |(kind, name): (CloneFlags, &str)| -> io::Result<(OwnedFd, CloneFlags)> {
        let opened = File::open(format!("/proc/thread-self/ns/{name}"))?;
        Ok((OwnedFd::from(opened), kind))
    };
    KINDS.into_iter().map(open).collect::<io::Result<_>>().map(Room).map_err(failed)
}

/// Gives the calling thread's new network namespace what its host has.
fn connect(number: usize, host: &Host, world: &Namespace) -> io::Result<()> {
    namespace::settings_of_programs()?;
    namespace::loopback()?;
    let (own, card) = (Namespace::current()?, format!("eth{}", HostTable::card(number)));
    world.enter()?;
    move_to(&card, &own)?;
    own.enter()?;
    set_up(&card, host.v4, MTU)?;
    add_address(&card, host.v6)?;
    add_default_route(&card, Family::V4)?;
    add_default_route(&card, Family::V6)?;
    if let Some(control) = &host.cca {
        namespace::set("ipv4/tcp_congestion_control", control)?;
    }
    match tcp_ecn(host.ecn).filter(|value| *value != "0") {
        Some(value) => namespace::set("ipv4/tcp_ecn", value),
        None => Ok(()),
    }
}
