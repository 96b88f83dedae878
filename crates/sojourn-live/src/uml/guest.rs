//! The process of a kernel, and the sockets by which it reaches this process.

use std::fs::{File, Permissions};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::fcntl::{OFlag, open};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::stat::Mode;

use super::console::Console;
use super::failure::doing;
use crate::error::Error;
use crate::sys::become_guest;

/// Processor features that the C library inside must not use.
const BEYOND_SSE: [&str; 6] =
    ["AVX", "AVX2", "AVX512F", "AVX512VL", "AVX512BW", "AVX_Fast_Unaligned_Load"];

/// The program to start.
#[derive(Clone, Debug)]
pub struct Image {
    /// The kernel, a program.
    pub kernel: PathBuf,
    /// Its first process: a program and its arguments.
    pub init: Vec<String>,
}

/// Configuration of a kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// Number of network cards.
    pub cards: usize,
    /// Whether the kernel is notified when a frame has been sent; otherwise a frame counts as sent
    /// when it leaves the kernel, as into a TUN device, and buffers are taken back whenever there
    /// are new ones.
    pub late: bool,
    /// Seed of its random numbers.
    pub seed: u64,
}

/// A listening socket without a name: it is reached by the number of a descriptor.
pub(super) struct Door {
    /// The listener.
    pub listener: UnixListener,
    name: OwnedFd,
}

impl Door {
    /// A new one. Its name is in a directory that is ours alone and is removed at once, so that
    /// nobody else reaches it and no file remains.
    ///
    /// # Errors
    /// If there is no room for temporary files.
    pub(super) fn new() -> Result<Self, Error> {
        let failed = |error| doing("opening a socket", error);
        let ours = Permissions::from_mode(0o700);
        let place = tempfile::Builder::new().prefix("sojourn-").permissions(ours).tempdir();
        let place = place.map_err(failed)?;
        let path = place.path().join("door");
        let listener = UnixListener::bind(&path).map_err(failed)?;
        let name = open(&path, OFlag::O_PATH | OFlag::O_CLOEXEC, Mode::empty());
        let name = name.map_err(|error| failed(error.into()))?;
        place.close().map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Door { listener, name })
    }
}

/// First number of the doors' descriptors inside: the same in each run, because a kernel seeds its
/// random numbers from its command line, too.
const FIRST_DOOR: RawFd = 900;

/// Address of a door in the kernel's options, for its calendar (0) and its cards.
fn door(number: usize) -> String {
    format!("/proc/self/fd/{}", FIRST_DOOR as usize + number)
}

/// A running kernel; it ends when this is dropped.
pub(super) struct Guest {
    child: Child,
    console: File,
}

impl Guest {
    /// Starts a kernel with a calendar and a card behind each of the other doors.
    ///
    /// # Errors
    /// If it cannot be run.
    pub(super) fn start(
        image: &Image,
        calendar: &Door,
        cards: &[Door],
        wanted: Wanted,
    ) -> Result<Self, Error> {
        let console = memfd_create(c"sojourn-console", MFdFlags::MFD_CLOEXEC);
        let console = File::from(console.map_err(|error| doing("a console", error.into()))?);
        let copy = || console.try_clone().map(Stdio::from).map_err(|e| doing("a console", e));
        let mut command = Command::new(&image.kernel);
        command.args(arguments(image, cards.len(), wanted.late));
        command.env_clear().env("SOJOURN_SEED", wanted.seed.to_string());
        command.stdin(Stdio::null()).stdout(copy()?).stderr(copy()?);
        let doors = std::iter::once(calendar).chain(cards);
        become_guest(&mut command, doors.map(|door| door.name.as_raw_fd()).collect(), FIRST_DOOR);
        let running = |path: &Path| format!("running the kernel {}", path.display());
        let child = command.spawn().map_err(|error| doing(&running(&image.kernel), error))?;
        Ok(Guest { child, console })
    }

    /// Whether it has ended by itself.
    pub(super) fn has_ended(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_some())
    }

    /// Its console, which outlives the process.
    ///
    /// # Errors
    /// If there are no more descriptors.
    pub(super) fn console(&self) -> Result<Console, Error> {
        self.console.try_clone().map(Console).map_err(|error| doing("a console", error))
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
    }
}

fn arguments(image: &Image, cards: usize, late: bool) -> Vec<String> {
    let mut arguments: Vec<String> = [
        "mem=512M",
        // The kernel writes its process number to a directory; here it cannot leave a file.
        "uml_dir=/proc/",
        "stderr=1",
        if late { "virtio_net.napi_tx=1" } else { "virtio_net.napi_tx=0" },
        "root=/dev/root",
        "rootfstype=hostfs",
        "rootflags=/",
        "ro",
    ]
    .map(str::to_owned)
    .to_vec();
    // User-Mode Linux saves a program's registers up to those of SSE (see its copy's changes).
    let without: Vec<String> = BEYOND_SSE.iter().map(|name| format!("-{name}")).collect();
    arguments.push(format!("GLIBC_TUNABLES=glibc.cpu.hwcaps={}", without.join(",")));
    arguments.push(format!("time-travel=ext:1:{}", door(0)));
    arguments.extend((1..=cards).map(|card| format!("virtio_uml.device={}:1", door(card))));
    let (program, rest) = image.init.split_first().unwrap_or((const { &String::new() }, &[]));
    arguments.push(format!("init={program}"));
    arguments.push("--".to_owned());
    arguments.extend(rest.iter().cloned());
    arguments
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_door_is_where_nobody_else_gets_and_leaves_no_name() {
        let doors: Vec<Door> = (0..3).map(|_| Door::new().unwrap()).collect();
        let places = doors.iter().map(|door| {
            let address = door.listener.local_addr().unwrap();
            address.as_pathname().unwrap().parent().unwrap().to_owned()
        });
        let places: BTreeSet<PathBuf> = places.collect();
        assert_eq!(places.len(), doors.len());
        assert!(places.iter().all(|place| !place.exists()), "{places:?}");
    }
}
