//! The order in which a sender calls its control, as the header of [`crate::cc`] gives it.

use std::sync::{Arc, Mutex};

use super::tests::{Rig, init};
use crate::cc::window::Window;
use crate::cc::{AckSample, CongestionControl, Decision, Event, Lost, Sent};
use crate::units::{Span, Time};

type Log = Arc<Mutex<Vec<&'static str>>>;

/// Reno's window, which notes every call.
struct Recording {
    window: Window,
    log: Log,
    timer: Option<Time>,
}

impl Recording {
    fn note(&self, call: &'static str) {
        self.log.lock().unwrap().push(call);
    }
}

impl CongestionControl for Recording {
    fn on_ack(&mut self, _now: Time, ack: &AckSample) {
        self.note("on_ack");
        if ack.may_grow {
            self.window.reno_growth(ack.acked);
        }
    }

    fn on_congestion(&mut self, _now: Time, event: &Event) {
        let name = match event {
            Event::Loss { .. } => "loss",
            Event::Ecn { .. } => "ecn",
            Event::Rto { .. } => "rto",
            Event::ReductionEnd { .. } => "reduction_end",
            Event::Recovered => "recovered",
            Event::TxStart { .. } => "tx_start",
            Event::Restart { .. } => "restart",
        };
        self.note(name);
        self.window.on_event(event, |window| window.cwnd / 2);
    }

    fn decision(&self) -> Decision {
        self.window.decision()
    }

    fn on_established(&mut self, now: Time, _rtt: Span) {
        self.note("on_established");
        self.timer = Some(now + Span::from_millis(30));
    }

    fn on_sent(&mut self, _now: Time, _sent: &Sent) {
        self.note("on_sent");
    }

    fn on_packet_lost(&mut self, _now: Time, _lost: &Lost) {
        self.note("on_packet_lost");
    }

    fn next_timer(&self) -> Option<Time> {
        self.timer
    }

    fn on_timer(&mut self, _now: Time) {
        self.note("on_timer");
        self.timer = None;
    }

    fn save(&mut self) {
        self.note("save");
        self.window.save();
    }

    fn undo(&mut self, _now: Time) {
        self.note("undo");
        self.window.undo();
    }
}

/// A connection over 100 ms and the log of its control's calls.
fn recorded() -> (Rig, Log) {
    let log = Log::default();
    let control = Recording { window: Window::new(10), log: log.clone(), timer: None };
    (Rig::with(init("linux-6"), Box::new(control), 100), log)
}

/// The calls so far, repetitions left out.
fn noted(log: &Log) -> Vec<&'static str> {
    let mut calls: Vec<_> = log.lock().unwrap().clone();
    calls.dedup();
    calls
}

/// The calls of a connection whose data packets of these indices are lost.
fn calls(drop: Vec<u32>, bytes: u64) -> Vec<&'static str> {
    let (mut rig, log) = recorded();
    rig.drop = drop;
    rig.start(bytes);
    rig.run(5000.0);
    noted(&log)
}

/// Whether `order` occurs in `calls`, one directly after the other.
fn has(calls: &[&str], order: &[&str]) -> bool {
    calls.windows(order.len()).any(|window| window == order)
}

#[test]
fn the_connection_begins_with_establishment_then_sending() {
    let calls = calls(vec![], 100_000);
    assert_eq!(calls[..3], ["on_established", "tx_start", "on_sent"], "{calls:?}");
    assert!(has(&calls, &["on_sent", "on_timer"]), "{calls:?}");
}

#[test]
fn losses_come_before_the_reduction_and_both_before_the_ack() {
    let calls = calls(vec![20], 300_000);
    let order = ["on_packet_lost", "save", "loss", "on_ack", "on_sent"];
    assert!(has(&calls, &order), "{calls:?}");
    assert!(has(&calls, &["reduction_end", "recovered", "on_ack"]), "{calls:?}");
}

#[test]
fn a_timeout_tells_losses_then_saves_then_reduces() {
    let calls = calls((10..30).collect(), 40_000);
    assert!(has(&calls, &["on_packet_lost", "save", "rto", "on_sent"]), "{calls:?}");
    assert!(has(&calls, &["recovered", "on_ack"]), "{calls:?}");
}

#[test]
fn a_needless_reduction_is_undone_before_recovery_ends() {
    let (mut rig, log) = recorded();
    rig.start(u64::MAX);
    rig.run(350.0);
    rig.delay = Span::from_millis(800);
    rig.run(5000.0);
    let calls = noted(&log);
    assert!(has(&calls, &["on_packet_lost", "save", "rto"]), "{calls:?}");
    assert!(has(&calls, &["undo", "recovered", "on_ack"]), "{calls:?}");
}
