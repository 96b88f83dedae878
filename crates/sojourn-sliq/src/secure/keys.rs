//! Keys and their files, which are those of WireGuard's tools: 32 bytes in base64, and a line's end.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use snow::params::DHChoice;
use snow::resolvers::{CryptoResolver, DefaultResolver};
use snow::types::Dh;
use thiserror::Error;
use zeroize::{Zeroize, Zeroizing};

/// Bytes of a key.
pub(super) const KEY: usize = 32;
/// A key's file is no longer than this.
const MOST: u64 = 256;

/// Why a key cannot be used.
#[derive(Debug, Error)]
pub enum KeyError {
    /// The file cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Others may read the secret.
    #[error(
        "{}: others may use it (mode {mode:03o}); make it yours alone: chmod 600 {}",
        path.display(),
        path.display()
    )]
    Mode {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// The file has no key.
    #[error("{}: no key; expected 32 bytes in base64, as `sojourn-sliq key FILE` writes them", .0.display())]
    Content(PathBuf),
    /// The text is no public key.
    #[error("no public key: expected 32 bytes in base64, as `sojourn-sliq key FILE` prints them")]
    Public,
    /// Everybody has the secret of it.
    #[error(
        "this public key belongs to nobody: whatever secret is combined with it gives the same"
    )]
    Nobody,
}

/// A secret key; wiped when it is dropped.
pub struct Secret([u8; KEY]);

/// A public key, which names a peer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Public([u8; KEY]);

impl Secret {
    /// That in a file, which nobody but its owner may read.
    ///
    /// # Errors
    /// It cannot be read, others may read it, or it has no key.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let told = |error| KeyError::File { path: path.to_owned(), error };
        let found = path.metadata().map_err(told)?;
        if !found.is_file() {
            return Err(told(io::Error::other("no regular file")));
        }
        let mode = found.mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(KeyError::Mode { path: path.to_owned(), mode });
        }
        let mut text = Zeroizing::new(String::new());
        File::open(path)
            .and_then(|file| file.take(MOST).read_to_string(&mut text))
            .map_err(told)?;
        decoded(text.trim()).map(Secret).ok_or_else(|| KeyError::Content(path.to_owned()))
    }

    /// A new one in a new file, for its owner alone.
    ///
    /// # Errors
    /// The file cannot be written, or exists.
    pub fn create(path: &Path) -> Result<Self, KeyError> {
        let told = |error| KeyError::File { path: path.to_owned(), error };
        let secret = Secret(rand::random());
        let mut text = Zeroizing::new(STANDARD.encode(secret.0));
        text.push('\n');
        let mut made = OpenOptions::new();
        let file = made.write(true).create_new(true).mode(0o600).open(path);
        file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(told)?;
        Ok(secret)
    }

    /// Of these bytes.
    pub fn from_bytes(bytes: [u8; KEY]) -> Self {
        Secret(bytes)
    }

    /// The public key that belongs to it.
    pub fn public(&self) -> Public {
        let mut public = [0; KEY];
        public.copy_from_slice(curve(&self.0).pubkey());
        Public(public)
    }

    pub(super) fn bytes(&self) -> &[u8; KEY] {
        &self.0
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Public {
    pub(super) fn from_bytes(bytes: [u8; KEY]) -> Self {
        Public(bytes)
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8; KEY] {
        &self.0
    }
}

impl FromStr for Public {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let bytes = decoded(text).ok_or(KeyError::Public)?;
        // A point of low order makes zero with every secret.
        let mut shared = [0; KEY];
        let made = curve(&[1; KEY]).dh(&bytes, &mut shared);
        if made.is_err() || shared == [0; KEY] { Err(KeyError::Nobody) } else { Ok(Public(bytes)) }
    }
}

impl fmt::Display for Public {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&STANDARD.encode(self.0))
    }
}

impl fmt::Debug for Public {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Public({self})")
    }
}

fn decoded(text: &str) -> Option<[u8; KEY]> {
    let mut bytes = Zeroizing::new([0; KEY]);
    (STANDARD.decode_slice(text, &mut bytes[..]) == Ok(KEY)).then_some(*bytes)
}

/// The curve's arithmetic with this secret.
fn curve(secret: &[u8; KEY]) -> Box<dyn Dh> {
    let mut curve = DefaultResolver.resolve_dh(&DHChoice::Curve25519).expect("snow has the curve");
    curve.set(secret);
    curve
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_key_is_kept_in_a_file_of_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let made = Secret::create(&path).unwrap();
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        assert_eq!(Secret::read(&path).unwrap().public(), made.public());
        let again = Secret::create(&path).unwrap_err();
        assert!(matches!(&again, KeyError::File { error, .. }
            if error.kind() == io::ErrorKind::AlreadyExists));
        set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let told = Secret::read(&path).unwrap_err().to_string();
        assert!(told.contains("mode 640") && told.contains("chmod 600"), "{told}");
        assert!(Secret::read(folder.path()).is_err());
    }

    #[test]
    fn public_keys_are_those_of_wireguard() {
        // The secret of RFC 7748, 6.1 (Alice), and its public key.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, "dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo=\n").unwrap();
        set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        let public = Secret::read(&path).unwrap().public();
        assert_eq!(public.to_string(), "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=");
        assert_eq!(public.to_string().parse::<Public>().unwrap(), public);
        for text in ["", "dwdt", "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=x", "%"] {
            assert!(matches!(text.parse::<Public>(), Err(KeyError::Public)), "{text}");
        }
    }

    #[test]
    fn a_key_that_gives_the_same_with_every_secret_names_nobody() {
        let one = {
            let mut one = [0; KEY];
            one[0] = 1;
            one
        };
        for bytes in [[0; KEY], one] {
            let text = STANDARD.encode(bytes);
            assert!(matches!(text.parse::<Public>(), Err(KeyError::Nobody)), "{text}");
        }
    }
}
