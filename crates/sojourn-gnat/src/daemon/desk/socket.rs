//! The file of a Unix socket: its owner alone may ask, and it is there only while somebody answers.

use std::fs::{self, Metadata, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use crate::daemon::Error;

/// The file of a socket. It is removed when this is dropped.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    /// Its file system and number there: another node may have replaced it.
    identity: (u64, u64),
}

impl SocketFile {
    /// Listens at a path, of which a socket that nobody answers at is removed.
    pub(super) fn open(path: &Path) -> Result<(Self, UnixListener), Error> {
        remove_stale(path)?;
        let listen = || {
            let listener = UnixListener::bind(path)?;
            fs::set_permissions(path, Permissions::from_mode(0o600))?;
            listener.set_nonblocking(true)?;
            Ok((listener, identity(&fs::symlink_metadata(path)?)))
        };
        let (listener, identity) = listen().map_err(Error::file(path))?;
        Ok((SocketFile { path: path.to_owned(), identity }, listener))
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let found = fs::symlink_metadata(&self.path);
        if found.is_ok_and(|found| identity(&found) == self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

fn remove_stale(path: &Path) -> Result<(), Error> {
    let refused = |kind, message: &str| Err(Error::file(path)(io::Error::new(kind, message)));
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::file(path)(error)),
        Ok(found) if !found.file_type().is_socket() => {
            let message = "is a file, and no socket; give `status` another path";
            return refused(ErrorKind::AlreadyExists, message);
        }
        Ok(_) => {}
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(Error::file(path))
        }
        Err(error) => Err(Error::file(path)(error)),
        Ok(_) => {
            let message = "a node answers here already; end it, or give `status` another path";
            refused(ErrorKind::AddrInUse, message)
        }
    }
}
