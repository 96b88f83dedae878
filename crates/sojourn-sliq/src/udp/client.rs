//! The client.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

use crate::udp::clock::Clock;
use crate::udp::error::Error;
use crate::udp::options::ClientOptions;
use crate::udp::port::Port;
use crate::udp::report::End;
use crate::udp::session::{Session, Setup};
use crate::udp::turn::drive;

/// Sends the data that the options specify; returns whether all has arrived.
///
/// # Errors
/// An option, a file or a socket cannot be used.
pub fn client(options: &ClientOptions) -> Result<bool, Error> {
    options.common.check_out()?;
    let clock = Clock::start();
    let server = resolve(&options.server)?;
    let local = match server {
        SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
    };
    let told = Error::at(&options.server);
    let mut port = Port::new(local, options.common.drop).map_err(&told)?;
    let setup = Setup {
        cca: options.cca.clone(),
        stream: Some(options.stream()?),
        payload: options.common.payload,
        source: options.common.source(Some(port.waker().map_err(&told)?))?,
        sink: options.common.sink()?,
        digest: options.common.digest,
        give_up: options.common.give_up,
    };
    let mut session = Session::new(setup, clock.now())?;
    let end = drive(&mut port, server, &mut session, clock).map_err(told)?;
    options.common.keep(&mut session)?;
    println!("{}", session.report(server).json());
    if end != End::Finished {
        eprintln!("sojourn-sliq: {}: {}", options.server, end.why());
    }
    Ok(end == End::Finished)
}

fn resolve(server: &str) -> Result<SocketAddr, Error> {
    let mut found = server.to_socket_addrs().map_err(Error::at(server))?;
    found.next().ok_or_else(|| Error::NoAddress(server.to_owned()))
}
