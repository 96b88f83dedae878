//! Copies of files that programs have written.

use std::fs;
use std::io;
use std::path::Path;

/// Copies the files and links below one directory to another, in the order of their names, as long as
/// they have at most `most` bytes; returns the bytes of those that are left out. Directories exist
/// where they have something in them; devices and sockets, and what stands for deleted files, are not
/// copied.
///
/// # Errors
/// If one cannot be read or written.
pub(super) fn copy(from: &Path, to: &Path, most: u64) -> io::Result<u64> {
    let mut copying = Copying { room: most, left: 0 };
    copying.directory(from, to)?;
    Ok(copying.left)
}

struct Copying {
    /// Bytes that may still be copied.
    room: u64,
    /// Bytes that were not.
    left: u64,
}

impl Copying {
    fn directory(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let mut entries = fs::read_dir(from)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (kind, to) = (entry.file_type()?, to.join(entry.file_name()));
            if kind.is_dir() {
                self.directory(&entry.path(), &to)?;
            } else if kind.is_file() {
                self.file(&entry.path(), &to)?;
            } else if kind.is_symlink() {
                make_parent(&to)?;
                std::os::unix::fs::symlink(fs::read_link(entry.path())?, to)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let size = fs::metadata(from)?.len();
        if size > self.room {
            self.left += size;
            return Ok(());
        }
        self.room -= size;
        make_parent(to)?;
        fs::copy(from, to).map(drop)
    }
}

fn make_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn files_and_links_are_copied_as_far_as_there_is_room() {
        let place = tempfile::tempdir().unwrap();
        let (from, to) = (place.path().join("from"), place.path().join("to"));
        fs::create_dir_all(from.join("a/empty")).unwrap();
        fs::create_dir(&to).unwrap();
        fs::write(from.join("a/small"), "12345").unwrap();
        fs::write(from.join("large"), vec![0; 100]).unwrap();
        fs::write(from.join("next"), "678").unwrap();
        std::os::unix::fs::symlink("a/small", from.join("link")).unwrap();
        let _socket = UnixListener::bind(from.join("socket")).unwrap();
        assert_eq!(copy(&from, &to, 10).unwrap(), 100);
        assert_eq!(fs::read(to.join("link")).unwrap(), b"12345");
        assert_eq!(fs::read(to.join("next")).unwrap(), b"678");
        for absent in ["a/empty", "large", "socket"] {
            assert!(!to.join(absent).exists(), "{absent}");
        }
    }
}
