//! The server: any number of clients may ask for a connection, one at a time is served.

use std::io;
use std::net::SocketAddr;

use crate::secure::can_answer;
use crate::udp::channel::{Channel, Peer};
use crate::udp::clock::{Clock, until};
use crate::udp::controls::known;
use crate::udp::door::Door;
use crate::udp::error::Error;
use crate::udp::message::Message;
use crate::udp::options::ServerOptions;
use crate::udp::port::Port;
use crate::udp::report::End;
use crate::udp::sealing::resolve;
use crate::udp::session::{Session, Setup};
use crate::udp::turn::{bind, drive};
use crate::udp::waiter::Waiter;
use crate::wire::{Datagram, Handshake, HandshakeKind, decode, encode};
use sojourn_base::units::{Span, Time};

/// How long it waits at once for a client.
const REST: Span = Span::from_secs(1);

/// Serves clients one after another, or one alone; whether all of what the last one sent has
/// arrived.
///
/// # Errors
/// If an option, a file or a socket cannot be used. What goes wrong with one client of many is told,
/// and the next one is served.
pub fn server(options: &ServerOptions) -> Result<bool, Error> {
    options.common.check_out()?;
    let told = Error::at(&options.address);
    let address = resolve(&options.address)?;
    let sealing = &options.common.sealing;
    sealing.check(options.common.payload)?;
    let mut channel = Channel::new(sealing.server(address)?);
    let (mut port, waiter) = bind(address, options.common.drop).map_err(&told)?;
    port.out.many = true;
    eprintln!("sojourn-sliq: listening on {}", port.address().map_err(&told)?);
    sealing.tell();
    let mut server = Server { options, waiter, clock: Clock::start(), door: Door::new(known()) };
    loop {
        let client = server.wait(&mut port, &mut channel).map_err(&told)?;
        let address = client.address;
        let served = server.serve(&mut port, &mut channel, client);
        match served {
            Ok(end) if options.once => return Ok(end == End::Finished),
            Err(error) if options.once => return Err(error),
            Err(error) => eprintln!("sojourn-sliq: {address}: {error}"),
            Ok(_) => {}
        }
    }
}

/// A client that has confirmed.
struct Client {
    peer: Peer,
    address: SocketAddr,
    confirm: Handshake,
    /// What came with it.
    early: Vec<Vec<u8>>,
}

struct Server<'a> {
    options: &'a ServerOptions,
    waiter: Waiter,
    clock: Clock,
    door: Door,
}

impl Server<'_> {
    /// Waits until a client confirms.
    fn wait(&mut self, port: &mut Port, channel: &mut Channel) -> io::Result<Client> {
        loop {
            let mut client: Option<Client> = None;
            let now = self.clock.now();
            let some = port.receive(|out, from, bytes| {
                let Some((peer, content)) = channel.hear(now, out, from, bytes)? else {
                    return Ok(());
                };
                match &mut client {
                    Some(client) if client.peer == peer => client.early.push(content.to_vec()),
                    Some(_) => {}
                    None => {
                        let heard = decode(content);
                        let Ok(Datagram::<Message>::Handshake(heard)) = heard else {
                            return Ok(());
                        };
                        if let Some(answer) = self.greet(now, from, &heard) {
                            channel.send(now, out, peer, &answer)?;
                        } else if self.admits(now, from, &heard) {
                            let (address, confirm, early) = (from, heard, Vec::new());
                            client = Some(Client { peer, address, confirm, early });
                        }
                    }
                }
                Ok(())
            })?;
            channel.work(now, &mut port.out)?;
            port.out.flush()?;
            if let Some(client) = client {
                return Ok(client);
            }
            if !some {
                self.waiter.wait(until(channel.next().min(now + REST), now))?;
            }
        }
    }

    /// The answer to a hello.
    fn greet(&self, now: Time, from: SocketAddr, heard: &Handshake) -> Option<Vec<u8>> {
        if heard.kind != HandshakeKind::ClientHello || !can_answer(from) {
            return None;
        }
        let mut answer = Vec::new();
        let said = Datagram::<Message>::Handshake(self.door.answer(now, from, heard));
        encode(&said, &mut answer);
        Some(answer)
    }

    /// Whether this opens a connection.
    fn admits(&mut self, now: Time, from: SocketAddr, heard: &Handshake) -> bool {
        heard.kind == HandshakeKind::ClientConfirm && self.door.admits(now, from, heard)
    }

    /// Serves a client until its connection ends.
    fn serve(&self, port: &mut Port, channel: &mut Channel, client: Client) -> Result<End, Error> {
        let (now, address) = (self.clock.now(), client.address);
        let mut session = Session::new(self.setup(&client.confirm)?, now)?;
        session.accept(now, &client.confirm);
        client.early.iter().for_each(|bytes| session.on_bytes(now, bytes));
        let end = drive((&self.waiter, port), channel, client.peer, &mut session, self.clock);
        let end = end.map_err(Error::at(address))?;
        self.options.common.keep(&mut session)?;
        println!("{}", session.report(address).json());
        if end != End::Finished {
            eprintln!("sojourn-sliq: {address}: {}", end.why());
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
            largest: common.sealing.largest(),
        })
    }
}
