//! Destination of received data.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use blake2::{Blake2b512, Digest};
use sojourn_base::units::{Span, Time};
use tempfile::NamedTempFile;

/// Files of clients that came one after another, at most.
const FILES: u32 = 100_000;

/// Counts a stream's bytes, and writes them to their destination.
pub struct Sink {
    out: Option<BufWriter<Out>>,
    /// The file that has all of it, once it is whole.
    pub file: Option<PathBuf>,
    digest: Option<Blake2b512>,
    /// Bytes so far.
    pub bytes: u64,
    /// Messages so far.
    pub messages: u64,
    first: Option<Time>,
    last: Time,
}

impl std::fmt::Debug for Sink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sink").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl Sink {
    /// A sink that counts bytes and discards them.
    pub fn counting(digest: bool) -> Self {
        let digest = digest.then(Blake2b512::new);
        Sink { out: None, file: None, digest, bytes: 0, messages: 0, first: None, last: Time::ZERO }
    }

    /// Writes to a file that appears when it is whole, to standard output for `-`, or to what is no
    /// regular file.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn writing(path: &Path, digest: bool) -> io::Result<Self> {
        let special = path.metadata().is_ok_and(|found| !found.is_file());
        let out = if path.as_os_str() == "-" {
            Out::Through(Box::new(io::stdout()))
        } else if special {
            Out::Through(Box::new(OpenOptions::new().write(true).open(path)?))
        } else {
            Out::beside(path)?
        };
        Ok(Sink { out: Some(BufWriter::with_capacity(1 << 20, out)), ..Sink::counting(digest) })
    }

    /// Processes a message.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn take(&mut self, now: Time, message: &[u8]) -> io::Result<()> {
        self.first.get_or_insert(now);
        self.last = now;
        self.bytes += message.len() as u64;
        self.messages += 1;
        if let Some(digest) = &mut self.digest {
            digest.update(message);
        }
        self.out.as_mut().map_or(Ok(()), |out| out.write_all(message))
    }

    /// All has arrived: the file appears under its name, or if that is taken under the first of
    /// `NAME.2`, `NAME.3`, ... that is not. Without this call it never appears.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep(&mut self) -> io::Result<()> {
        let Some(out) = self.out.take() else { return Ok(()) };
        if let Out::Beside { file, path } = out.into_inner()? {
            self.file = Some(named(file, &path)?);
        }
        Ok(())
    }

    /// Flushes buffered data, where a reader may be waiting for it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), Write::flush)
    }

    /// From the first message to the last one.
    pub fn span(&self) -> Span {
        self.first.map_or(Span::ZERO, |first| self.last.since(first))
    }

    /// The digest of all bytes, in hexadecimal, if it was asked for.
    pub fn digest(&self) -> Option<String> {
        let digest = self.digest.clone()?.finalize();
        Some(digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect())
    }
}

/// Where bytes go.
enum Out {
    Through(Box<dyn Write>),
    /// Into a file beside that of this name.
    Beside {
        file: NamedTempFile,
        path: PathBuf,
    },
}

impl Out {
    fn beside(path: &Path) -> io::Result<Self> {
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
        let (mut prefix, rights) = (OsString::from("."), open_to_all());
        prefix.push(name);
        let mut named = tempfile::Builder::new();
        named.prefix(&prefix).suffix(".part").permissions(rights);
        let file = named.tempfile_in(folder.unwrap_or(Path::new(".")))?;
        Ok(Out::Beside { file, path: path.to_owned() })
    }
}

/// The rights of any new file: the process's mask takes some away.
fn open_to_all() -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o666)
}

fn named(mut file: NamedTempFile, path: &Path) -> io::Result<PathBuf> {
    for number in 1..=FILES {
        let mut name = path.as_os_str().to_owned();
        if number > 1 {
            name.push(format!(".{number}"));
        }
        match file.persist_noclobber(&name) {
            Ok(_) => return Ok(name.into()),
            Err(taken) if taken.error.kind() == io::ErrorKind::AlreadyExists => file = taken.file,
            Err(other) => return Err(other.error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Out::Through(out) => out.write(bytes),
            Out::Beside { file, .. } => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Out::Through(out) => out.flush(),
            Out::Beside { file, .. } => file.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn received(path: &Path, bytes: &[u8]) -> Sink {
        let mut sink = Sink::writing(path, false).unwrap();
        sink.take(Time::ZERO, bytes).unwrap();
        sink
    }

    #[test]
    fn a_file_appears_when_it_is_whole_and_replaces_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("copy");
        let mut first = received(&path, b"one");
        assert!(!path.exists());
        first.keep().unwrap();
        let mut second = received(&path, b"two");
        second.keep().unwrap();
        drop(received(&path, b"broken off"));
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        assert_eq!(std::fs::read(second.file.unwrap()).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
