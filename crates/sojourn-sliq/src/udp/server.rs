//! The server: any number of clients may ask for a connection, one at a time is served.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

use crate::udp::clock::Clock;
use crate::udp::controls::known;
use crate::udp::door::{Door, can_answer};
use crate::udp::error::Error;
use crate::udp::message::Message;
use crate::udp::options::ServerOptions;
use crate::udp::outbox::Outbox;
use crate::udp::port::Port;
use crate::udp::report::End;
use crate::udp::session::{Session, Setup};
use crate::udp::turn::drive;
use crate::wire::{Datagram, Handshake, HandshakeKind, decode, encode};
use sojourn_base::units::Time;
use std::time::Duration;

/// How long it waits at once for a client.
const REST: Duration = Duration::from_secs(1);

/// Serves clients one after another, or one alone; whether all of what the last one sent has
/// arrived.
///
/// # Errors
/// If an option, a file or a socket cannot be used. What goes wrong with one client of many is told,
/// and the next one is served.
pub fn server(options: &ServerOptions) -> Result<bool, Error> {
    options.common.check_out()?;
    let told = Error::at(&options.address);
    let mut found = options.address.to_socket_addrs().map_err(&told)?;
    let address = found.next().ok_or_else(|| Error::NoAddress(options.address.clone()))?;
    let mut port = Port::new(address, options.common.drop).map_err(&told)?;
    port.out.many = true;
    eprintln!("sojourn-sliq: listening on {}", port.address().map_err(&told)?);
    let mut server = Server { options, clock: Clock::start(), door: Door::new(known()) };
    loop {
        let (peer, confirm, early) = server.wait(&mut port).map_err(&told)?;
        let served = server.serve(&mut port, peer, &confirm, &early);
        match served {
            Ok(end) if options.once => return Ok(end == End::Finished),
            Err(error) if options.once => return Err(error),
            Err(error) => eprintln!("sojourn-sliq: {peer}: {error}"),
            Ok(_) => {}
        }
    }
}

/// A client, its confirmation, and what came with it.
type Client = (SocketAddr, Handshake, Vec<Vec<u8>>);

struct Server<'a> {
    options: &'a ServerOptions,
    clock: Clock,
    door: Door,
}

impl Server<'_> {
    /// Waits until a client confirms.
    fn wait(&mut self, port: &mut Port) -> io::Result<Client> {
        loop {
            let mut client: Option<Client> = None;
            let now = self.clock.now();
            let some = port.receive(|out, from, bytes| {
                match &mut client {
                    Some((peer, _, early)) if *peer == from => early.push(bytes.to_vec()),
                    Some(_) => {}
                    None => {
                        let confirm = self.greet(now, out, from, bytes)?;
                        client = confirm.map(|confirm| (from, confirm, Vec::new()));
                    }
                }
                Ok(())
            })?;
            port.out.flush()?;
            if let Some(client) = client {
                return Ok(client);
            }
            if !some {
                port.wait(REST)?;
            }
        }
    }

    /// Answers a hello; returns a confirmation that opens a connection.
    fn greet(
        &mut self,
        now: Time,
        out: &mut Outbox,
        from: SocketAddr,
        bytes: &[u8],
    ) -> io::Result<Option<Handshake>> {
        let Ok(Datagram::<Message>::Handshake(heard)) = decode(bytes) else { return Ok(None) };
        match heard.kind {
            HandshakeKind::ClientHello if can_answer(from) => {
                let mut answer = Vec::new();
                let said = Datagram::<Message>::Handshake(self.door.answer(now, from, &heard));
                encode(&said, &mut answer);
                out.push(from, &answer)?;
                Ok(None)
            }
            HandshakeKind::ClientConfirm if self.door.admits(now, from, &heard) => Ok(Some(heard)),
            _ => Ok(None),
        }
    }

    /// Serves a client until its connection ends.
    fn serve(
        &self,
        port: &mut Port,
        peer: SocketAddr,
        confirm: &Handshake,
        early: &[Vec<u8>],
    ) -> Result<End, Error> {
        let now = self.clock.now();
        let mut session = Session::new(self.setup(confirm)?, now)?;
        session.accept(now, confirm);
        early.iter().for_each(|bytes| session.on_bytes(now, bytes));
        let end = drive(port, peer, &mut session, self.clock).map_err(Error::at(peer))?;
        self.options.common.keep(&mut session)?;
        println!("{}", session.report(peer).json());
        if end != End::Finished {
            eprintln!("sojourn-sliq: {peer}: {}", end.why());
        }
        Ok(end)
    }

    fn setup(&self, confirm: &Handshake) -> Result<Setup, Error> {
        let common = &self.options.common;
        Ok(Setup {
            cca: confirm.controls.clone(),
            stream: None,
            payload: common.payload,
            source: common.source(None)?,
            sink: common.sink()?,
            digest: common.digest,
            give_up: common.give_up,
        })
    }
}
