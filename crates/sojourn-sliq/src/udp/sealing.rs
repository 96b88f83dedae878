//! Options of sealed and of open connections.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

use clap::Args;

use crate::secure::{Ages, Gate, KeyError, Public, SEALING, Secret};
use crate::udp::error::Error;
use crate::udp::message::MAX_PAYLOAD;
use crate::wire::MAX_DATAGRAM;

/// Who the other end is, or that it may be anybody.
#[derive(Args, Debug)]
pub struct Sealing {
    /// Encrypts and authenticates with the secret key in this file.
    #[arg(long, value_name = "FILE", requires = "peer")]
    pub key: Option<PathBuf>,
    /// The other end's public key; a server's may be given several times, and with the address that
    /// a client has, as KEY@ADDRESS:PORT.
    #[arg(long, value_name = "KEY[@ADDRESS]", requires = "key", value_parser = named)]
    pub peer: Vec<Named>,
    /// Without --key: lets the connection leave this machine, though it is open to anyone.
    #[arg(long, conflicts_with = "key")]
    pub insecure: bool,
}

/// A peer by its key, and where it is if that is said.
#[derive(Clone, Debug)]
pub struct Named {
    /// Its public key.
    pub public: Public,
    /// Its address and port.
    pub address: Option<String>,
}

/// Options of the program that makes keys.
#[derive(Args, Debug)]
pub struct KeyOptions {
    /// The file of the secret key, which is made unless it exists.
    pub file: PathBuf,
}

/// Makes a key unless there is one, and prints the public key that belongs to it.
///
/// # Errors
/// The file cannot be made or read, or others may read it.
pub fn key(options: &KeyOptions) -> Result<(), Error> {
    let file = &options.file;
    let secret = if file.exists() { Secret::read(file) } else { Secret::create(file) };
    println!("{}", secret?.public());
    Ok(())
}

impl Sealing {
    /// The gate of a client, whose server is there; none if the connection is open.
    ///
    /// # Errors
    /// The key or the peer is not usable, or nothing says that the connection may be open.
    pub(super) fn client(&self, server: SocketAddr) -> Result<Option<Gate>, Error> {
        let Some(mut gate) = self.gate(server)? else { return Ok(None) };
        match &self.peer[..] {
            [Named { public, address: None }] => gate.add(*public, Some(server)),
            [_] => {
                return Err(Error::Value(
                    "--peer: a server's address is given once; leave @... out",
                ));
            }
            _ => return Err(Error::Value("--peer: a client has one server; give one key")),
        };
        Ok(Some(gate))
    }

    /// The gate of a server at this address; none if all are let in.
    ///
    /// # Errors
    /// As of a client's; or an address cannot be found.
    pub(super) fn server(&self, address: SocketAddr) -> Result<Option<Gate>, Error> {
        let Some(mut gate) = self.gate(address)? else { return Ok(None) };
        for Named { public, address } in &self.peer {
            gate.add(*public, address.as_deref().map(resolve).transpose()?);
        }
        Ok(Some(gate))
    }

    fn gate(&self, address: SocketAddr) -> Result<Option<Gate>, Error> {
        let Some(file) = &self.key else {
            let near = address.ip().to_canonical().is_loopback();
            return if near || self.insecure { Ok(None) } else { Err(Error::Open(address)) };
        };
        Ok(Some(Gate::new(
            Secret::read(file).map_err(Error::Secret)?,
            rand::random(),
            Ages::default(),
        )))
    }

    /// Says that a connection is open, if it is.
    pub(super) fn tell(&self) {
        if self.key.is_none() {
            eprintln!("sojourn-sliq: open: neither encrypted nor authenticated (see --key)");
        }
    }

    /// Bytes of the largest datagram before it is sealed.
    pub(super) fn largest(&self) -> usize {
        if self.key.is_some() { MAX_DATAGRAM - SEALING } else { MAX_DATAGRAM }
    }

    /// Refuses messages that are too long once they are sealed.
    ///
    /// # Errors
    /// Names the most.
    pub(super) fn check(&self, payload: u16) -> Result<(), Error> {
        let most = MAX_PAYLOAD - SEALING as u16;
        let fits = self.key.is_none() || payload <= most;
        if fits { Ok(()) } else { Err(Error::Payload { given: payload, most }) }
    }
}

fn named(text: &str) -> Result<Named, KeyError> {
    let (key, address) = match text.split_once('@') {
        Some((key, address)) => (key, Some(address.to_owned())),
        None => (text, None),
    };
    Ok(Named { public: key.parse()?, address })
}

/// The address of a host and port.
///
/// # Errors
/// If there is none.
pub(super) fn resolve(name: &str) -> Result<SocketAddr, Error> {
    let mut found = name.to_socket_addrs().map_err(Error::at(name))?;
    found.next().ok_or_else(|| Error::NoAddress(name.to_owned()))
}
