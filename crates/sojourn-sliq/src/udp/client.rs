//! The client.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::udp::channel::Channel;
use crate::udp::clock::Clock;
use crate::udp::error::Error;
use crate::udp::options::ClientOptions;
use crate::udp::report::End;
use crate::udp::sealing::resolve;
use crate::udp::session::{Session, Setup};
use crate::udp::turn::{bind, drive};

/// Sends the data that the options specify; returns whether all has arrived.
///
/// # Errors
/// An option, a file or a socket cannot be used.
pub fn client(options: &ClientOptions) -> Result<bool, Error> {
    options.common.check_out()?;
    let clock = Clock::start();
    let server = resolve(&options.server)?;
    let (common, sealing) = (&options.common, &options.common.sealing);
    sealing.check(common.payload)?;
    let mut channel = Channel::new(sealing.client(server)?);
    sealing.tell();
    let local = match server {
        SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
    };
    let told = Error::at(&options.server);
    let (mut port, waiter) = bind(local, common.drop).map_err(&told)?;
    let setup = Setup {
        cca: options.cca.clone(),
        stream: Some(options.stream()?),
        payload: common.payload,
        source: common.source(Some(waiter.waker()))?,
        sink: common.sink()?,
        digest: common.digest,
        give_up: common.give_up,
        largest: sealing.largest(),
    };
    // No answer to a stranger's initiation ends a client.
    port.out.many = channel.is_sealed();
    let peer = channel.reach((&waiter, &mut port), server, clock, common.give_up).map_err(&told)?;
    let mut session = Session::new(setup, clock.now())?;
    let end = match peer {
        Some(peer) => {
            drive((&waiter, &mut port), &mut channel, peer, &mut session, clock).map_err(told)?
        }
        None => End::Silent,
    };
    common.keep(&mut session)?;
    println!("{}", session.report(server).json());
    if end != End::Finished {
        eprintln!("sojourn-sliq: {}: {}", options.server, end.why());
    }
    Ok(end == End::Finished)
}
