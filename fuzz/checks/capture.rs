//! A capture. Whatever its bytes are, each frame that is whole is counted, and has a row, or left out for
//! a reason; and frames that are written as Sojourn writes them are read as they were.

use std::sync::{Arc, Mutex};

use sojourn_base::Packet;
use sojourn_base::units::{Span, Time};
use sojourn_capture::{Frame, Frames, Survey};
use sojourn_net::record::Table;
use sojourn_net::record::capture::{Capture, Setup, Wire};

/// Frames that are written again.
const MOST: usize = 64;
/// So long that even centuries, which stamps can tell, are few samples.
const INTERVAL: Span = Span::from_secs(10_000_000);
/// More than is kept of a frame.
const SNAP: u32 = 1 << 10;

pub(crate) fn check(bytes: &[u8]) {
    let Ok(frames) = Frames::open(bytes) else { return };
    let frames: Vec<Frame> = frames.flatten().collect();
    let timed: Vec<&Frame> =
        frames.iter().filter(|frame| frame.time.is_some()).take(MOST).collect();
    let file = written(&timed);
    let again = Frames::open(&file[..]).expect("it is a capture").map(Result::unwrap);
    for (frame, was) in again.zip(&timed) {
        assert_eq!((&frame.bytes, frame.size, frame.time), (&was.bytes, was.size, was.time));
    }
    let Ok(survey) = Survey::of(bytes) else { return };
    let rows = Arc::new(Mutex::new(0_u64));
    let counted = Arc::clone(&rows);
    let count = move |_: &'static str, table: Table| {
        *counted.lock().unwrap() += table.columns[0].values.len() as u64;
    };
    let measured = survey.measure(bytes, INTERVAL, Some(Box::new(count)));
    let Ok(imported) = measured else { return };
    let told = imported.told;
    assert_eq!(*rows.lock().unwrap(), told.counted);
    assert_eq!(told.frames, frames.len() as u64);
    assert_eq!(told.counted + told.left.values().sum::<u64>(), told.frames);
}

/// Writes packet number `index` as the bytes of a frame.
struct Bytes(Vec<Vec<u8>>);

impl Wire for Bytes {
    fn bytes(&mut self, packet: &Packet, _snap: usize) -> Option<&[u8]> {
        Some(&self.0[packet.index as usize])
    }
}

/// A file of these frames.
fn written(frames: &[&Frame]) -> Vec<u8> {
    let file = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&file);
    let pass = Box::new(move |bytes: Vec<u8>| into.lock().unwrap().extend(bytes));
    let hosts = vec![("a".to_owned(), [10, 0, 0, 1].into())];
    let setup = Setup { snap: SNAP, hosts, ..Setup::default() };
    let bytes = Bytes(frames.iter().map(|frame| frame.bytes.clone()).collect());
    let capture = Capture::new(setup, Box::new(bytes), pass);
    let host = capture.host("a").expect("it is the only one");
    for (index, frame) in (0..).zip(frames) {
        let packet = Packet { index, size: frame.size as u32, ..Packet::default() };
        host.sent(Time::from_nanos(frame.time.unwrap_or_default()), &packet);
    }
    capture.flush();
    std::mem::take(&mut *file.lock().unwrap())
}
