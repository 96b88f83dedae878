//! The console of a kernel.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// Number of the console's lines that errors quote.
const LAST_WORDS: usize = 12;

/// The console of a kernel.
pub(super) struct Console(pub(super) File);

impl Console {
    /// Its last lines, without those that contain memory addresses.
    pub(super) fn last_words(mut self) -> String {
        let mut text = Vec::new();
        let read = self.0.seek(SeekFrom::Start(0));
        let _ = read.and_then(|_| self.0.read_to_end(&mut text)); // then there are none
        let text = String::from_utf8_lossy(&text);
        let said = |line: &&str| !line.trim().is_empty() && !line.contains(" [<");
        let lines: Vec<&str> = text.lines().filter(said).collect();
        let last = lines.len().saturating_sub(LAST_WORDS);
        lines[last..].join("\n")
    }
}
