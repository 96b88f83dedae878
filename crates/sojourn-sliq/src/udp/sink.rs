//! Destination of received data.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use blake2::{Blake2b512, Digest};
use sojourn_base::units::{Span, Time};

/// Counts a stream's bytes, and writes them to their destination.
pub struct Sink {
    out: Option<BufWriter<Box<dyn Write>>>,
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
        Sink { out: None, digest, bytes: 0, messages: 0, first: None, last: Time::ZERO }
    }

    /// Writes to a file, or to standard output for `-`.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn writing(path: &Path, digest: bool) -> io::Result<Self> {
        let out: Box<dyn Write> = match path.to_str() {
            Some("-") => Box::new(io::stdout()),
            _ => Box::new(File::create(path)?),
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
