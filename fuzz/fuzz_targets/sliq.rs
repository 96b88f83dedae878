//! Whatever datagrams arrive on a connection of SLIQ, nothing panics, and no more is sent than
//! answers. Run with `cargo +nightly fuzz run sliq`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sojourn_base::units::{Span, Time};
use sojourn_sliq::StreamConfig;
use sojourn_sliq::udp::{Session, Setup, Sink, Source};

fn session(stream: Option<StreamConfig>, now: Time) -> Session {
    let source = if stream.is_some() { Source::made(Some(10_000), None) } else { Source::Nothing };
    let setup = Setup {
        cca: vec!["cubic".to_owned(), "copa".to_owned()],
        stream,
        payload: 200,
        source,
        sink: Sink::counting(false),
        digest: false,
        give_up: Span::from_secs(60),
    };
    Session::new(setup, now).expect("the controls are known")
}

/// What an end has to send now.
fn sent(end: &mut Session, now: Time) -> Vec<Vec<u8>> {
    end.work(now).expect("there are no files");
    let mut all = Vec::new();
    let mut bytes = Vec::new();
    while end.poll(now, &mut bytes).expect("there are no files") {
        all.push(std::mem::take(&mut bytes));
        assert!(all.len() < 100_000);
    }
    all
}

// Both ends shake hands; then the fuzzer's datagrams come between theirs.
fuzz_target!(|datagrams: Vec<Vec<u8>>| {
    let mut now = Time::ZERO + Span::from_millis(1);
    let mut ends = [session(Some(StreamConfig::default()), now), session(None, now)];
    let mut strange = datagrams.iter();
    for round in 0..8 + datagrams.len() {
        for from in 0..2 {
            for bytes in sent(&mut ends[from], now) {
                ends[1 - from].on_bytes(now, &bytes);
            }
        }
        if round >= 4 {
            if let Some(bytes) = strange.next() {
                ends[round % 2].on_bytes(now, bytes);
            }
        }
        now = now + Span::from_millis(7);
    }
});
