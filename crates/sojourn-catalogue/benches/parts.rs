//! Parts: the event queue, and every queue discipline with a standing queue.

use divan::Bencher;
use sojourn_base::packet::Packet;
use sojourn_base::rng::StreamKey;
use sojourn_base::units::{Rate, Span, Time};
use sojourn_catalogue::builtin;
use sojourn_net::net::event::{EventQueue, Target};
use sojourn_net::queue::{QueueContext, QueueCounters, QueueInit};
use sojourn_sim::spec::Queue;

fn main() {
    divan::main();
}

/// Removes the earliest event and schedules another, with `pending` events pending. Delays between
/// are those of a simulation: most short, some long.
#[divan::bench(args = [16, 100, 1000, 10_000])]
fn event_pop_and_push(bencher: Bencher<'_, '_>, pending: u32) {
    let mut queue = EventQueue::default();
    let mut state = 1_u64;
    let mut delay = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let random = state >> 33;
        Span::from_nanos(if random.is_multiple_of(8) { 200_000_000 } else { random % 10_000_000 })
    };
    for index in 0..pending {
        queue.push(Time::ZERO + delay(), Target::Edge(index));
    }
    bencher.bench_local(|| {
        if let Some((now, target)) = queue.pop_until(Time::NEVER) {
            queue.push(now + delay(), target);
        }
    });
}

/// A full-sized packet goes in and one comes out, with ten waiting, at 100 Mbit/s.
#[divan::bench(args = builtin().names::<Queue>())]
fn enqueue_and_dequeue(bencher: Bencher<'_, '_>, name: &str) {
    let mut init = QueueInit::new(Some(Rate::from_bps(100_000_000)), StreamKey::root(1));
    init.base_rtt = Span::from_millis(20);
    let entry = builtin().find::<Queue>(name).unwrap_or_else(|error| panic!("{error}"));
    let queue = (entry.make)(&Default::default(), &init, builtin());
    let mut queue = queue.unwrap_or_else(|error| panic!("{error}")).boxed();
    let mut counters = QueueCounters::default();
    let mut cx = QueueContext { counters: &mut counters, observer: None };
    let mut now = Time::ZERO;
    let packet = Packet { size: 1500, ..Packet::default() };
    for _ in 0..10 {
        queue.enqueue(now, packet, &mut cx);
    }
    bencher.bench_local(|| {
        now += Span::from_micros(122);
        queue.enqueue(now, Packet { enqueued_at: now, ..packet }, &mut cx);
        queue.dequeue(now, &mut cx)
    });
}
