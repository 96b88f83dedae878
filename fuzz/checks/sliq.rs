//! A server of SLIQ with a client of its own, or one whose client the input is, and what strangers
//! send. Whatever arrives, nothing panics and no end has more to send at once than a window.
//!
//! Of the input, the first byte says whether there is a client; then come datagrams, each after its
//! length in two bytes, the less significant first.

use sojourn_base::units::{Span, Time};
use sojourn_sliq::StreamConfig;
use sojourn_sliq::udp::{Session, Setup, Sink, Source};
use sojourn_sliq::wire::{Handshake, HandshakeKind, MAX_DATAGRAM, WINDOW};

const CONTROLS: [&str; 2] = ["cubic", "copa"];
const DATAGRAMS: usize = 64;
/// Rounds in which client and server shake hands before a stranger comes.
const HANDSHAKE: usize = 4;

pub(crate) fn check(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let now = Time::ZERO + Span::from_millis(1);
    let server = session(None, now);
    match first & 1 {
        0 => pair([session(Some(StreamConfig::default()), now), server], now, rest),
        _ => alone(server, now, rest),
    }
}

fn pair(mut ends: [Session; 2], mut now: Time, mut rest: &[u8]) {
    for round in 0..2 * HANDSHAKE + DATAGRAMS {
        for from in 0..2 {
            for bytes in sent(&mut ends[from], now) {
                ends[1 - from].on_bytes(now, &bytes);
            }
        }
        if round >= HANDSHAKE {
            match next(&mut rest) {
                Some(strange) => ends[round % 2].on_bytes(now, strange),
                None if round > 2 * HANDSHAKE => return,
                None => {}
            }
        }
        now += Span::from_millis(7);
    }
}

fn alone(mut server: Session, mut now: Time, mut rest: &[u8]) {
    let controls = CONTROLS.map(str::to_owned).to_vec();
    let kind = HandshakeKind::ClientConfirm;
    let confirm = Handshake { kind, controls, stamp: 2, echo: 1, client: 7, cookie: None };
    server.accept(now, &confirm);
    for _ in 0..DATAGRAMS {
        let Some(strange) = next(&mut rest) else { return };
        server.on_bytes(now, strange);
        sent(&mut server, now);
        now += Span::from_millis(7);
    }
}

fn session(stream: Option<StreamConfig>, now: Time) -> Session {
    let source = if stream.is_some() { Source::made(Some(10_000), None) } else { Source::Nothing };
    let setup = Setup {
        cca: CONTROLS.map(str::to_owned).to_vec(),
        stream,
        payload: 200,
        source,
        sink: Sink::counting(false),
        digest: false,
        give_up: Span::from_secs(60),
        largest: MAX_DATAGRAM,
    };
    Session::new(setup, now).expect("the controls are known")
}

/// What an end has to send now.
fn sent(end: &mut Session, now: Time) -> Vec<Vec<u8>> {
    end.work(now).expect("there are no files");
    let mut all = Vec::new();
    let mut bytes = Vec::new();
    while end.poll(now, &mut bytes).expect("there are no files") {
        assert!(bytes.len() <= MAX_DATAGRAM, "{} bytes", bytes.len());
        all.push(std::mem::take(&mut bytes));
        assert!(all.len() < WINDOW as usize);
    }
    all
}

/// The next datagram of the input; the last one may be cut short.
fn next<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_at_checked(2)?;
    let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
    let (datagram, after) = after.split_at(length.min(after.len()));
    *rest = after;
    Some(datagram)
}
