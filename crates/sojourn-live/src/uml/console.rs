//! The console of a kernel.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// Number of the console's lines that errors quote.
const LAST_WORDS: usize = 12;

/// The console of a kernel.
pub(super) struct Console(pub(super) File);

/// What a kernel says of programs on its console.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Complaints {
    /// Numbers of system calls that it has not, and the process that asked for one first.
    pub lacks: Vec<(i64, String)>,
    /// Processes that it ended for want of memory.
    pub killed: Vec<String>,
    /// Why it does not keep all registers of a program, if it does not.
    pub registers: Option<String>,
}

impl Console {
    /// Its last lines, without those that contain memory addresses.
    pub(super) fn last_words(&self) -> String {
        let text = self.text();
        let said = |line: &&str| !line.trim().is_empty() && !line.contains(" [<");
        let lines: Vec<&str> = text.lines().filter(said).collect();
        let last = lines.len().saturating_sub(LAST_WORDS);
        lines[last..].join("\n")
    }

    /// What it says of programs.
    pub(super) fn complaints(&self) -> Complaints {
        complaints(&self.text())
    }

    /// All of it: where the kernel goes on to write stays as it is.
    fn text(&self) -> String {
        let size = self.0.metadata().map_or(0, |file| file.len());
        let mut text = vec![0; size as usize];
        let read = self.0.read_exact_at(&mut text, 0);
        if read.is_err() {
            text.clear(); // then there is none
        }
        String::from_utf8_lossy(&text).into_owned()
    }
}

fn complaints(text: &str) -> Complaints {
    let mut all = Complaints::default();
    for line in text.lines() {
        let after = |words: &str| line.split_once(words).map(|(_, after)| after.trim());
        if let Some((number, name)) = after("sojourn: lacks ").and_then(|a| a.split_once(' ')) {
            all.lacks.extend(number.parse().ok().map(|number| (number, name.to_owned())));
        } else if let Some(killed) = after("Out of memory: Killed process ") {
            let name = killed.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
            all.killed.extend(name.map(|(name, _)| name.to_owned()));
        } else if let Some(why) = after("sojourn: registers of ") {
            all.registers = Some(format!("registers of {why}"));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_are_found_among_other_lines() {
        let text = "[    0.1] sojourn: registers of 20000 bytes: no room\r\nbooted\n\
                    [    1.5] sojourn: lacks 321 deno worker\n\
                    Out of memory: Killed process 41 (python3) total-vm:1kB, anon-rss:1kB\n\
                    sojourn: lacks -1\nsojourn: lacks x y\n";
        let all = complaints(text);
        assert_eq!(all.lacks, [(321, "deno worker".to_owned())]);
        assert_eq!(all.killed, ["python3"]);
        assert_eq!(all.registers.as_deref(), Some("registers of 20000 bytes: no room"));
        assert_eq!(complaints("booted\n"), Complaints::default());
    }
}
