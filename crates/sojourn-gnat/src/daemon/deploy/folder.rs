//! The directory of a deployment: what may be in it, and what is written.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sojourn_base::error::FieldError;
use sojourn_sliq::secure::{KeyError, Public, Secret};

use super::nodes::Nodes;
use super::scripts;
use crate::daemon::{DeployOptions, Error};

pub(super) struct Folder<'a>(&'a Path);

impl<'a> Folder<'a> {
    /// The directory, which is made unless it is there, and has nothing but what such a deployment
    /// has written.
    ///
    /// # Errors
    /// Names what else it has.
    pub(super) fn open(
        options: &'a DeployOptions,
        nodes: &Nodes,
        scenario: &OsStr,
    ) -> Result<Self, Error> {
        let path = &options.out;
        let of_nodes = ["toml", "key", "sock"]
            .map(|end| nodes.names().map(move |name| format!("{name}.{end}")));
        let mut known: BTreeSet<OsString> =
            of_nodes.into_iter().flatten().map(Into::into).collect();
        if !known.insert(scenario.to_owned()) {
            let message =
                "a node's file would have the scenario's name; rename the scenario's file";
            return Err(Error::config(&options.file)(FieldError::new("", message)));
        }
        if options.namespaces {
            known.extend(scripts::NAMES.map(Into::into));
        }
        fs::create_dir_all(path).map_err(Error::file(path))?;
        for entry in fs::read_dir(path).map_err(Error::file(path))? {
            let found = entry.map_err(Error::file(path))?.file_name();
            if !known.contains(&found) {
                let found = found.to_string_lossy().into_owned();
                return Err(Error::Occupied { path: path.clone(), found });
            }
        }
        Ok(Folder(path))
    }

    /// The path of a file in it.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The public key of a node, whose secret one is made unless it is there.
    ///
    /// # Errors
    /// The secret key cannot be written or read, or others may read it.
    pub(super) fn key(&self, node: &str) -> Result<Public, Error> {
        let path = self.path(&format!("{node}.key"));
        let secret = match Secret::create(&path) {
            Err(KeyError::File { error, .. }) if error.kind() == io::ErrorKind::AlreadyExists => {
                Secret::read(&path)
            }
            made => made,
        };
        Ok(secret?.public())
    }

    /// Writes a file, or writes it anew.
    ///
    /// # Errors
    /// If the system refuses.
    pub(super) fn write(&self, name: impl AsRef<Path>, text: &str) -> Result<(), Error> {
        let path = self.0.join(name);
        fs::write(&path, text).map_err(Error::file(&path))
    }

    /// The same of a program.
    ///
    /// # Errors
    /// If the system refuses.
    pub(super) fn write_program(&self, name: &str, text: &str) -> Result<(), Error> {
        self.write(name, text)?;
        let path = self.path(name);
        fs::set_permissions(&path, Permissions::from_mode(0o755)).map_err(Error::file(&path))
    }
}
