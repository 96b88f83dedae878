//! All peers of a socket: datagrams and times go in, content and datagrams come out.
//!
//! Of a stranger nothing is kept. An initiation costs a code; a cookie, which costs two more; and
//! only with that a Diffie-Hellman exchange, of which few are made ([`super::load`]). Peers are few:
//! they are searched.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::SocketAddr;

use sojourn_base::units::Time;

use super::call::{Heeded, Own};
use super::counters::Counters;
use super::frame::{self, Data, Frame, Initiation, Reply, Response};
use super::keyring::{Opened, Session};
use super::keys::{Public, Secret};
use super::load::Load;
use super::mac::{Codes, Cookies};
use super::noise::respond;
use super::peer::Peer;
use super::told::{Heard, PeerId, Told};
use super::{Ages, Boot, Moment, can_answer};

/// The peers of a socket.
pub struct Gate {
    secret: Secret,
    public: Public,
    codes: Codes,
    boot: Boot,
    ages: Ages,
    peers: Vec<(PeerId, Peer)>,
    last: u32,
    cookies: Cookies,
    load: Load,
    /// The answer to what was heard last.
    answer: Option<(SocketAddr, Vec<u8>)>,
    counters: Counters,
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate").field("public", &self.public).finish_non_exhaustive()
    }
}

impl Gate {
    /// A gate without peers, for a process with this boot.
    pub fn new(secret: Secret, boot: Boot, ages: Ages) -> Self {
        let public = secret.public();
        Gate {
            secret,
            public,
            codes: Codes::to(&public),
            boot,
            ages,
            peers: Vec::new(),
            last: 0,
            cookies: Cookies::new(ages.cookie),
            load: Load::new(),
            answer: None,
            counters: Counters::default(),
        }
    }

    /// Adds a peer, or changes the address of one that is known. One with an address is called; the
    /// others call.
    pub fn add(&mut self, peer: Public, address: Option<SocketAddr>) -> PeerId {
        if let Some((id, known)) = self.peers.iter_mut().find(|(_, known)| known.public == peer) {
            known.configure(address);
            return *id;
        }
        self.last += 1;
        let id = PeerId(self.last);
        let mut added = Peer::new(peer);
        added.configure(address);
        self.peers.push((id, added));
        id
    }

    /// Forgets a peer, which is a stranger from now on.
    pub fn remove(&mut self, peer: PeerId) {
        self.peers.retain(|(id, _)| *id != peer);
    }

    /// A datagram came from there: its content replaces `plain`. [`Gate::poll`] is called after it.
    pub fn hear(
        &mut self,
        at: &Moment,
        from: SocketAddr,
        bytes: &[u8],
        plain: &mut Vec<u8>,
    ) -> Heard {
        plain.clear();
        match frame::parse(bytes) {
            None => self.counters.malformed += 1,
            Some(Frame::Initiation(frame)) => self.on_initiation(at, from, &frame),
            Some(Frame::Response(frame)) => return self.on_response(at.now, from, &frame),
            Some(Frame::Reply(frame)) => self.on_cookie(at.now, &frame),
            Some(Frame::Data(frame)) => return self.on_data(at.now, from, &frame, plain),
        }
        Heard::Nothing
    }

    /// Replaces `out` by the next datagram of the gate's own (a handshake's, a cookie, an empty one)
    /// that is due; returns where it goes to. Called until there is none.
    pub fn poll(&mut self, at: &Moment, out: &mut Vec<u8>) -> Option<SocketAddr> {
        if let Some((to, answer)) = self.answer.take() {
            *out = answer;
            return Some(to);
        }
        for place in 0..self.peers.len() {
            if self.peers[place].1.due(&self.ages) > at.now {
                continue;
            }
            let index = self.unused();
            let own = Own { secret: &self.secret, boot: &self.boot };
            let to = self.peers[place].1.poll(at, &self.ages, &own, index, out);
            if to.is_some() {
                return to;
            }
        }
        None
    }

    /// Replaces `out` by a datagram with this content; returns where it goes to. `None` if there is
    /// no session with the peer now, or the content has more than 65,519 bytes: it is lost.
    pub fn seal(
        &mut self,
        at: &Moment,
        peer: PeerId,
        plain: &[u8],
        out: &mut Vec<u8>,
    ) -> Option<SocketAddr> {
        let (_, peer) = self.peers.iter_mut().find(|(id, _)| *id == peer)?;
        peer.seal(at.now, &self.ages, plain, out)
    }

    /// When [`Gate::poll`] is to be called next.
    pub fn next_timeout(&self) -> Time {
        let due = self.peers.iter().map(|(_, peer)| peer.due(&self.ages));
        let answer = if self.answer.is_some() { Time::ZERO } else { Time::NEVER };
        due.min().unwrap_or(Time::NEVER).min(answer)
    }

    /// What is known of a peer.
    pub fn told(&self, now: Time, peer: PeerId) -> Told {
        let found = self.peers.iter().find(|(id, _)| *id == peer);
        found.map_or_else(Told::default, |(_, peer)| Told::of(peer, now, &self.ages))
    }

    /// What was refused.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// A number that is another one after anything has changed that an attacker might want to change:
    /// sessions, calls, addresses and times; not counters, nor how many handshakes were heeded.
    #[doc(hidden)]
    pub fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        format!("{:?}", self.peers).hash(&mut hasher);
        hasher.finish()
    }

    fn on_initiation(&mut self, at: &Moment, from: SocketAddr, frame: &Initiation<'_>) {
        let [first, second] = frame.codes;
        if !can_answer(from) {
            self.counters.malformed += 1;
            return;
        }
        if !self.codes.is_first(first) {
            self.counters.mac += 1;
            return;
        }
        if !self.peers.iter_mut().any(|(_, peer)| peer.trusts(at.now, from)) {
            if !self.cookies.is_second(at.now, from, second) {
                let cookie = self.cookies.of(at.now, from);
                self.counters.cookies += 1;
                self.answer = Some((from, self.codes.reply(frame.sender, first.1, &cookie)));
                return;
            }
            if !self.load.admits(at.now, from) {
                self.counters.limited += 1;
                return;
            }
        }
        self.heed(at.now, from, frame);
    }

    /// Reads an initiation, and answers it if it is a peer's.
    fn heed(&mut self, now: Time, from: SocketAddr, frame: &Initiation<'_>) {
        let Some((responder, said)) = respond(&self.secret, frame.noise) else {
            self.counters.unopened += 1;
            return;
        };
        let index = self.unused();
        let found = self.peers.iter_mut().find(|(_, peer)| peer.public == said.public);
        let Some((_, peer)) = found else {
            self.counters.stranger += 1;
            return;
        };
        if !peer.is_new(&said) {
            self.counters.old += 1;
            return;
        }
        if peer.crosses(now, from, self.public, &self.ages) {
            return;
        }
        let Some((ciphers, noise)) = responder.answer(&self.boot) else { return };
        let (indices, boot) = ([index, frame.sender], said.boot);
        let session = Session { indices, ciphers, since: now, initiator: false, boot };
        self.answer = Some((from, peer.offer(&self.ages, &said, session, &noise)));
    }

    fn on_response(&mut self, now: Time, from: SocketAddr, frame: &Response<'_>) -> Heard {
        if !self.codes.is_first(frame.code) {
            self.counters.mac += 1;
            return Heard::Nothing;
        }
        let found = self.peers.iter_mut().find(|(_, peer)| peer.calls(frame.receiver));
        let Some((id, peer)) = found else {
            self.counters.stranger += 1;
            return Heard::Nothing;
        };
        match peer.on_response(now, from, frame) {
            Heeded::Yes(()) => begun(now, *id, peer),
            heeded => self.refuse(&heeded),
        }
    }

    fn on_cookie(&mut self, now: Time, frame: &Reply<'_>) {
        let found = self.peers.iter_mut().find(|(_, peer)| peer.calls(frame.receiver));
        let Some((_, peer)) = found else {
            self.counters.stranger += 1;
            return;
        };
        let heeded = peer.on_cookie(now, frame);
        self.refuse(&heeded);
    }

    fn refuse(&mut self, heeded: &Heeded<()>) -> Heard {
        match heeded {
            Heeded::Yes(()) => {}
            Heeded::Limited => self.counters.limited += 1,
            Heeded::Unopened => self.counters.unopened += 1,
        }
        Heard::Nothing
    }

    fn on_data(
        &mut self,
        now: Time,
        from: SocketAddr,
        frame: &Data<'_>,
        plain: &mut Vec<u8>,
    ) -> Heard {
        let found = self.peers.iter_mut().find(|(_, peer)| peer.keys.has(frame.receiver));
        let Some((id, peer)) = found else {
            self.counters.stranger += 1;
            return Heard::Nothing;
        };
        match peer.keys.open(now, &self.ages, frame, plain) {
            Opened::Content { newest, begins } => {
                peer.on_data(now, &self.ages, from, newest, plain.is_empty());
                match (begins, plain.is_empty()) {
                    (true, _) => return begun(now, *id, peer),
                    (false, true) => {}
                    (false, false) => return Heard::Data(*id),
                }
            }
            Opened::Replayed => self.counters.replayed += 1,
            Opened::Unopened => self.counters.unopened += 1,
            Opened::Unknown => self.counters.stranger += 1,
        }
        Heard::Nothing
    }

    /// A number that no session here has.
    fn unused(&self) -> u32 {
        loop {
            let index = rand::random();
            if !self.peers.iter().any(|(_, peer)| peer.has(index)) {
                return index;
            }
        }
    }
}

/// That a session with this peer is in use from now on.
fn begun(now: Time, id: PeerId, peer: &Peer) -> Heard {
    match (peer.keys.told(now), peer.address) {
        (Some((_, _, boot)), Some(address)) => Heard::Session { peer: id, boot, address },
        _ => Heard::Nothing,
    }
}
