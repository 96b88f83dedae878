//! Errors of the programs over sockets.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use sojourn_base::error::FieldError;
use thiserror::Error;

use crate::secure::KeyError;

/// Why a program ends without a connection, or a connection without its peer.
#[derive(Debug, Error)]
pub enum Error {
    /// More controls than a connection may have.
    #[error("--cca: {given} names given; 1 to {most} are allowed")]
    Controls {
        /// Number requested.
        given: usize,
        /// Largest number allowed.
        most: usize,
    },
    /// A control is not known, or not with these parameters.
    #[error("--cca {name}: {error}")]
    Control {
        /// Its name.
        name: String,
        /// What is wrong.
        error: FieldError,
    },
    /// A property of the stream is not allowed.
    #[error("--{option}: out of range; allowed: {allowed}")]
    Option {
        /// Which.
        option: &'static str,
        /// What it may be.
        allowed: &'static str,
    },
    /// An option's value is not what is expected.
    #[error("{0}")]
    Value(&'static str),
    /// A file cannot be read or written.
    #[error("--{option} {}: {error}", path.display())]
    File {
        /// The option that names it.
        option: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file is there already, and would be replaced.
    #[error("--out {}: exists already; name another file, or remove it", .0.display())]
    Exists(PathBuf),
    /// An open connection would leave this machine.
    #[error(
        "{0}: not loopback, where the connection would be open to anyone; give --key FILE and --peer \
         KEY (`sojourn-sliq key FILE` makes a key), or --insecure"
    )]
    Open(SocketAddr),
    /// A sealed message would be too long.
    #[error("--payload: {given} given; at most {most} with --key")]
    Payload {
        /// What was asked for.
        given: u16,
        /// The longest one.
        most: u16,
    },
    /// The secret key cannot be used.
    #[error("--key {0}")]
    Secret(KeyError),
    /// A key cannot be made.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The standard input cannot be read.
    #[error("standard input: {0}")]
    Input(io::Error),
    /// An address or a peer cannot be reached.
    #[error("{address}: {error}")]
    Network {
        /// Which.
        address: String,
        /// Why.
        error: io::Error,
    },
    /// A name has no address.
    #[error("{0}: no address found for this name")]
    NoAddress(String),
    /// The socket.
    #[error(transparent)]
    Socket(#[from] io::Error),
}

impl Error {
    /// Makes one of a file from what the system says.
    pub(super) fn file(option: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |error| Error::File { option, path, error }
    }

    /// Makes one of an address from what the system says.
    pub(super) fn at(address: impl ToString) -> impl Fn(io::Error) -> Error {
        move |error| Error::Network { address: address.to_string(), error }
    }
}
