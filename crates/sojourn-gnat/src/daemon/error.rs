//! Errors of the programs.

use std::io;
use std::path::{Path, PathBuf};

use sojourn_base::error::{Fault, FieldError};
use sojourn_sliq::secure::KeyError;
use thiserror::Error;

/// Why a program ends.
#[derive(Debug, Error)]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A configuration or a scenario is not usable.
    #[error("{}: {error}", path.display())]
    Config {
        /// Its file.
        path: PathBuf,
        /// The field, and what is wrong.
        error: FieldError,
    },
    /// An option is not usable.
    #[error("--{option}: {message}")]
    Option {
        /// Its name.
        option: &'static str,
        /// What is wrong, and the remedy.
        message: String,
    },
    /// A directory has files of something else.
    #[error(
        "--out {}: has {found}, which is not of this deployment; name another directory, or remove it",
        path.display()
    )]
    Occupied {
        /// The directory.
        path: PathBuf,
        /// One of these files.
        found: String,
    },
    /// A key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// An address cannot be used.
    #[error("{address}: {error}")]
    Network {
        /// Which.
        address: String,
        /// Why.
        error: io::Error,
    },
    /// The simulated node has broken an invariant.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl Error {
    /// The program's exit status: 2 for what has to be changed before it is called again, 1 for a
    /// fault of its own.
    pub fn status(&self) -> u8 {
        if matches!(self, Error::Fault(_)) { 1 } else { 2 }
    }

    /// Makes one of a file from what the system says.
    pub(super) fn file(path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |error| Error::File { path, error }
    }

    /// Makes one of a configuration or a scenario from its field's.
    pub(super) fn config(path: &Path) -> impl Fn(FieldError) -> Error {
        let path = path.to_owned();
        move |error| Error::Config { path: path.clone(), error }
    }
}
