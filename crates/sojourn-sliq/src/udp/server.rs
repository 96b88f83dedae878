//! The server: many clients may request a connection, one at a time is served.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

use crate::wire::{Datagram, HandshakeKind, decode};
use sojourn_base::units::Time;

use crate::udp::clock::{Clock, until};
use crate::udp::error::Error;
use crate::udp::message::Message;
use crate::udp::options::ServerOptions;
use crate::udp::outbox::Outbox;
use crate::udp::port::Port;
use crate::udp::report::End;
use crate::udp::session::{Session, Setup};
use crate::udp::sink::Sink;
use crate::udp::source::Source;
use crate::udp::turn::{drive, send};

/// Largest number of clients between hello and confirmation; another one replaces the oldest.
const WAITING: usize = 64;

/// Serves clients one after another, or one alone; whether all of what the last one sent has
/// arrived.
///
/// # Errors
/// If an option, a file or a socket cannot be used.
pub fn server(options: &ServerOptions) -> Result<bool, Error> {
    let told = Error::at(&options.address);
    let mut found = options.address.to_socket_addrs().map_err(&told)?;
    let address = found.next().ok_or_else(|| Error::NoAddress(options.address.clone()))?;
    let mut port = Port::new(address, options.common.drop).map_err(&told)?;
    eprintln!("sojourn-sliq: listening on {}", port.address().map_err(told)?);
    loop {
        let end =
            Server { options, clock: Clock::start(), waiting: Vec::new() }.serve(&mut port)?;
        if options.once {
            return Ok(end == End::Finished);
        }
    }
}

struct Server<'a> {
    options: &'a ServerOptions,
    clock: Clock,
    /// The oldest first.
    waiting: Vec<(SocketAddr, Session)>,
}

impl Server<'_> {
    /// Serves the next client.
    fn serve(mut self, port: &mut Port) -> Result<End, Error> {
        let (peer, mut session) = self.accept(port)?;
        let end = self.follow(port, peer, &mut session).map_err(Error::at(peer))?;
        println!("{}", session.report(peer).json());
        if end != End::Finished {
            eprintln!("sojourn-sliq: {peer}: {}", end.why());
        }
        Ok(end)
    }

    /// Waits until someone is connected.
    fn accept(&mut self, port: &mut Port) -> io::Result<(SocketAddr, Session)> {
        loop {
            let now = self.clock.now();
            let mut arrived = Vec::new();
            let take = |_: &mut Outbox, from, bytes: &[u8]| {
                arrived.push((from, bytes.to_vec()));
                Ok(())
            };
            let some = port.receive(take)?;
            for (from, bytes) in arrived {
                self.greet(now, from, &bytes);
            }
            for (peer, session) in &mut self.waiting {
                session.work(now)?;
                send(&mut port.out, *peer, session, now)?;
            }
            port.out.flush()?;
            self.waiting.retain(|(_, session)| session.end(now).is_none());
            if let Some(at) = self.waiting.iter().position(|(_, session)| session.is_connected()) {
                return Ok(self.waiting.swap_remove(at));
            }
            let next = self.waiting.iter().map(|(_, session)| session.next(now)).min();
            if !some {
                let rest = sojourn_base::units::Span::from_secs(1);
                port.wait(until(next.unwrap_or(now + rest), now))?;
            }
        }
    }

    /// Processes a datagram of a client that is not served yet.
    fn greet(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) {
        if let Some((_, session)) = self.waiting.iter_mut().find(|(peer, _)| *peer == from) {
            session.on_bytes(now, bytes);
            return;
        }
        let Ok(Datagram::<Message>::Handshake(hello)) = decode(bytes) else { return };
        if hello.kind != HandshakeKind::ClientHello {
            return;
        }
        // Controls that are not known here are refused by a connection that has others.
        let named = self.session(hello.controls.clone(), now);
        let Some(mut session) = named.or_else(|| self.session(vec!["cubic".to_owned()], now))
        else {
            return;
        };
        session.on_datagram(now, Datagram::Handshake(hello));
        if self.waiting.len() == WAITING {
            self.waiting.remove(0);
        }
        self.waiting.push((from, session));
    }

    fn session(&self, cca: Vec<String>, now: Time) -> Option<Session> {
        let common = &self.options.common;
        let setup = Setup {
            cca,
            stream: None,
            payload: common.payload,
            source: Source::Nothing,
            sink: Sink::counting(common.digest),
            digest: common.digest,
            give_up: common.give_up,
        };
        Session::new(setup, now).ok()
    }

    fn follow(&self, port: &mut Port, peer: SocketAddr, session: &mut Session) -> io::Result<End> {
        let common = &self.options.common;
        let files = common.source(None).and_then(|source| Ok((source, common.sink()?)));
        let (source, sink) = files.map_err(io::Error::other)?;
        session.serve(source, sink);
        drive(port, peer, session, self.clock)
    }
}
