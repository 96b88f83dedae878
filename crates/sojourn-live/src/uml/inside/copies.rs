//! Copies of files that programs have written.

use std::fs::{self, FileType};
use std::io;
use std::path::Path;

use super::super::control::Copied;

/// Most characters of a file's name that are told: they must fit into a packet.
const LONGEST_NAME: usize = 200;

/// Copies the files, links and directories below one directory to another, which exists, in the order
/// of their names, as long as files have at most `most` bytes. `hidden`, a relative path, is not
/// copied, nor are devices and sockets, and what stands for deleted files. After one that cannot be
/// copied it goes on with the next.
pub(super) fn copy((from, to): (&Path, &Path), most: u64, hidden: Option<&Path>) -> Copied {
    let mut copying = Copying { from, to, hidden, room: most, copied: Copied::default() };
    if let Err(error) = copying.directory(Path::new("")) {
        copying.fail(Path::new("."), &error);
    }
    copying.copied
}

struct Copying<'a> {
    from: &'a Path,
    to: &'a Path,
    hidden: Option<&'a Path>,
    /// Bytes that may still be copied.
    room: u64,
    copied: Copied,
}

impl Copying<'_> {
    /// Copies what is in the directory with this relative path.
    fn directory(&mut self, path: &Path) -> io::Result<()> {
        let mut entries = fs::read_dir(self.from.join(path))?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = path.join(entry.file_name());
            if self.hidden == Some(path.as_path()) {
                continue;
            }
            let done = entry.file_type().and_then(|kind| self.entry(kind, &path));
            if let Err(error) = done {
                self.fail(&path, &error);
            }
        }
        Ok(())
    }

    fn entry(&mut self, kind: FileType, path: &Path) -> io::Result<()> {
        let (from, to) = (self.from.join(path), self.to.join(path));
        if kind.is_dir() {
            fs::create_dir(&to)?;
            self.directory(path)?;
            if self.hidden.is_some_and(|hidden| hidden.starts_with(path)) {
                // It is there for what is hidden, unless something else is in it.
                let _ = fs::remove_dir(&to);
            }
        } else if kind.is_file() {
            self.file(&from, &to)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&from)?, to)?;
        }
        Ok(())
    }

    fn file(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let size = fs::metadata(from)?.len();
        if size > self.room {
            self.copied.left_out += size;
            return Ok(());
        }
        self.room -= size;
        fs::copy(from, to).map(drop)
    }

    /// Notes what could not be copied: the first one stands for all.
    fn fail(&mut self, path: &Path, error: &io::Error) {
        let name: String = path.to_string_lossy().chars().take(LONGEST_NAME).collect();
        self.copied.uncopied.get_or_insert_with(|| format!("{name}: {error}"));
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::*;

    /// A directory from which and one to which is copied, and what keeps them.
    fn directories() -> (PathBuf, PathBuf, TempDir) {
        let place = tempfile::tempdir().unwrap();
        let (from, to) = (place.path().join("from"), place.path().join("to"));
        fs::create_dir(&from).unwrap();
        fs::create_dir(&to).unwrap();
        (from, to, place)
    }

    #[test]
    fn files_and_links_are_copied_as_far_as_there_is_room() {
        let (from, to, _place) = directories();
        fs::create_dir_all(from.join("a/empty/inside")).unwrap();
        fs::write(from.join("a/small"), "12345").unwrap();
        fs::write(from.join("large"), vec![0; 100]).unwrap();
        fs::write(from.join("next"), "678").unwrap();
        std::os::unix::fs::symlink("a/small", from.join("link")).unwrap();
        let _socket = UnixListener::bind(from.join("socket")).unwrap();
        let expected = Copied { left_out: 100, uncopied: None };
        assert_eq!(copy((&from, &to), 10, None), expected);
        assert_eq!(fs::read(to.join("link")).unwrap(), b"12345");
        assert_eq!(fs::read(to.join("next")).unwrap(), b"678");
        assert!(to.join("a/empty/inside").is_dir());
        for absent in ["large", "socket"] {
            assert!(!to.join(absent).exists(), "{absent}");
        }
    }

    #[test]
    fn what_is_hidden_is_not_copied() {
        let (from, to, _place) = directories();
        fs::create_dir_all(from.join("results/one")).unwrap();
        let hidden = Some(Path::new("results/one"));
        assert_eq!(copy((&from, &to), 10, hidden), Copied::default());
        assert!(!to.join("results").exists());
        fs::write(from.join("results/two"), "2").unwrap();
        assert_eq!(copy((&from, &to), 10, hidden), Copied::default());
        assert!(to.join("results/two").exists() && !to.join("results/one").exists());
    }

    #[test]
    fn what_cannot_be_copied_is_named_and_the_rest_copied() {
        let (from, to, _place) = directories();
        fs::create_dir_all(from.join("a/taken")).unwrap();
        fs::create_dir_all(from.join("taken")).unwrap();
        fs::write(from.join("z"), "1").unwrap();
        fs::write(to.join("taken"), "").unwrap();
        let Copied { uncopied, .. } = copy((&from, &to), 10, None);
        let why = uncopied.unwrap();
        assert!(why.starts_with("taken: ") && why.contains("exists"), "{why}");
        assert_eq!(fs::read(to.join("z")).unwrap(), b"1");
    }
}
