//! Replay of two queue disciplines on the same arrivals and departures; the link sends the packets
//! of `ours`.

use serde_json::{Map, Value};
use sojourn_base::error::FieldError;
use sojourn_base::observe::Observer;
use sojourn_base::packet::{Backlog, Ecn, Packet};
use sojourn_base::registry::Catalogue;
use sojourn_base::units::Time;
use sojourn_net::queue::{
    Discipline, DropReason, QueueContext, QueueCounters, QueueDiscipline, QueueInit, QueueObserver,
};
use sojourn_net::spec::Queue;

use super::{compared, member};

struct Pair {
    ours: Box<dyn QueueDiscipline>,
    theirs: Box<dyn QueueDiscipline>,
    /// Drops and marks of theirs.
    counters: QueueCounters,
}

pub(super) fn make(
    table: &Map<String, Value>,
    init: &QueueInit,
    catalogue: &Catalogue,
) -> Result<Discipline, FieldError> {
    let one = |key| {
        let (entry, params) = member::<Queue>(table, key, catalogue)?;
        let made = (entry.make)(&params, init, catalogue).map_err(|error| error.within(key))?;
        Ok::<_, FieldError>(made.boxed())
    };
    let (ours, theirs) = (one("ours")?, one("theirs")?);
    Ok(Discipline::Other(Box::new(Pair { ours, theirs, counters: QueueCounters::default() })))
}

/// Effects of one call of a discipline.
#[derive(Debug, Default, PartialEq)]
struct Done {
    left: Option<(u32, u32, Ecn)>,
    /// Codepoint with which it left.
    dscp: u8,
    dropped: Vec<(u32, u32)>,
    marked: Vec<(u32, u32)>,
}

/// Records drops and marks, and passes them on.
struct Tee<'a> {
    done: Done,
    next: Option<&'a mut dyn QueueObserver>,
}

impl QueueObserver for Tee<'_> {
    fn on_drop(&mut self, now: Time, packet: &Packet, reason: DropReason) {
        self.done.dropped.push((packet.flow, packet.index));
        if let Some(next) = &mut self.next {
            next.on_drop(now, packet, reason);
        }
    }

    fn on_mark(&mut self, now: Time, packet: &Packet) {
        self.done.marked.push((packet.flow, packet.index));
        if let Some(next) = &mut self.next {
            next.on_mark(now, packet);
        }
    }
}

/// Calls one of the two and returns the effects.
fn watched<'a, T>(
    counters: &'a mut QueueCounters,
    next: Option<&'a mut dyn QueueObserver>,
    call: impl FnOnce(&mut QueueContext<'_>) -> T,
) -> (T, Done) {
    let mut tee = Tee { done: Done::default(), next };
    let made = call(&mut QueueContext { counters, observer: Some(&mut tee) });
    // The order in which packets are dropped in one call is irrelevant.
    tee.done.dropped.sort_unstable();
    tee.done.marked.sort_unstable();
    (made, tee.done)
}

fn compare(now: Time, call: &str, ours: &Done, theirs: &Done) {
    let tell = || format!("at {call}: ours {ours:?}; theirs {theirs:?}");
    compared(now, (ours != theirs).then_some(tell));
}

impl QueueDiscipline for Pair {
    fn enqueue(&mut self, now: Time, packet: Packet, cx: &mut QueueContext<'_>) {
        let Pair { ours, theirs, counters } = self;
        let ((), theirs) = watched(counters, None, |cx| theirs.enqueue(now, packet, cx));
        let next = cx.observer.as_deref_mut().map(|next| next as &mut dyn QueueObserver);
        let ((), ours) = watched(cx.counters, next, |cx| ours.enqueue(now, packet, cx));
        compare(now, "an arrival", &ours, &theirs);
    }

    fn dequeue(&mut self, now: Time, cx: &mut QueueContext<'_>) -> Option<Packet> {
        let Pair { ours, theirs, counters } = self;
        let named = |packet: &Option<Packet>| packet.as_ref().map(|p| (p.flow, p.index, p.ecn));
        let codepoint = |left: &Option<Packet>| left.as_ref().map_or(0, |p| p.dscp().number());
        let (left, mut theirs) = watched(counters, None, |cx| theirs.dequeue(now, cx));
        theirs.left = named(&left);
        theirs.dscp = codepoint(&left);
        let next = cx.observer.as_deref_mut().map(|next| next as &mut dyn QueueObserver);
        let (left, mut ours) = watched(cx.counters, next, |cx| ours.dequeue(now, cx));
        ours.left = named(&left);
        ours.dscp = codepoint(&left);
        compare(now, "a departure", &ours, &theirs);
        left
    }

    fn backlog(&self) -> Backlog {
        self.ours.backlog()
    }

    fn shapes_link(&self) -> bool {
        self.ours.shapes_link()
    }

    fn next_timer(&self) -> Option<Time> {
        let timers = [self.ours.next_timer(), self.theirs.next_timer()];
        timers.into_iter().flatten().min()
    }

    fn on_timer(&mut self, now: Time, cx: &mut QueueContext<'_>) {
        let due = |timer: Option<Time>| timer.is_some_and(|at| at <= now);
        if due(self.theirs.next_timer()) {
            let mut own = QueueContext { counters: &mut self.counters, observer: None };
            self.theirs.on_timer(now, &mut own);
        }
        if due(self.ours.next_timer()) {
            self.ours.on_timer(now, cx);
        }
    }

    fn observe(&self, out: &mut Observer<'_>) {
        self.ours.observe(out);
    }
}
