//! A link's table with its trace and its schedules. What is accepted reads back to itself, a trace
//! delivers every byte at the opportunity that carries it, and a schedule moves on and stays within
//! its bounds.

use sojourn_base::quantity::Percent;
use sojourn_base::reading::read;
use sojourn_base::rng::StreamKey;
use sojourn_base::spec::toml_to_json;
use sojourn_base::units::{Rate, Span, Time};
use sojourn_catalogue::builtin;
use sojourn_net::edge::link::LinkSpec;
use sojourn_net::edge::link::schedule::{Level, Schedule, ScheduleSpec};
use sojourn_net::edge::link::trace::{Trace, TraceSpec};

/// Bytes of a full packet with framing.
const FULL: u32 = 1_514;
const PACKETS: u64 = 50;
/// So much of a trace, and of a schedule, is followed.
const HOUR: Time = Time::from_nanos(3_600_000_000_000);
const FEW_MS: Time = Time::from_nanos(5_000_000);

pub(crate) fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(value) = toml_to_json(text) else { return };
    let Ok(mut link) = read::<LinkSpec>(&value) else { return };
    if link.resolve(builtin()).is_err() {
        return;
    }
    let written = serde_json::to_value(&link).expect("a link is written");
    let mut again = read::<LinkSpec>(&written).expect("what is written is read");
    again.resolve(builtin()).expect("what was accepted is accepted");
    assert_eq!(serde_json::to_value(&again).expect("a link is written"), written);
    if let Some(trace) = &link.trace {
        delivers(trace);
    }
    if let Some(schedule) = &link.rate_schedule {
        moves_on(schedule, Rate::from_bps(1_000_000));
    }
    if let Some(schedule) = &link.delay_schedule {
        moves_on(schedule, Span::ZERO);
    }
    if let Some(schedule) = &link.loss_schedule {
        moves_on(schedule, Percent::default());
    }
}

/// The last of `sent` bytes lies in opportunity number `(sent - 1) / bytes`.
fn delivers(spec: &TraceSpec) {
    let times = &spec.opportunities;
    let (bytes, count) = (spec.bytes(u64::from(FULL)), times.len() as u64);
    let mut trace = Trace::new(spec, FULL);
    let (mut now, mut sent) = (Time::ZERO, 0);
    for index in 0..PACKETS {
        let length = 40 + index * 977 % 1_461;
        sent += length;
        now = trace.delivered(now, length as u32, HOUR);
        if now > HOUR {
            return;
        }
        let number = (sent - 1) / bytes;
        let period = u64::from(times[times.len() - 1]);
        let within = u64::from(times[(number % count) as usize]);
        let expected = Time::ZERO + Span::from_millis(number / count * period + within);
        assert_eq!(now, expected, "packet {index} of {spec:?}");
    }
}

fn moves_on<T: Level + std::fmt::Debug>(spec: &ScheduleSpec<T>, initial: T) {
    let mut schedule = Schedule::new(spec, initial, StreamKey::root(1));
    let mut now = Time::ZERO;
    while now < FEW_MS {
        let value = schedule.at(now);
        if let ScheduleSpec::Walk { least, most, .. } = spec {
            let [value, least, most] = [value, *least, *most].map(T::to_number);
            let slack = 1e-9 * most.abs();
            assert!(least - slack <= value && value <= most + slack, "{value} of {spec:?}");
        }
        assert!(schedule.next_change() > now, "at {now:?} of {spec:?}");
        now = schedule.next_change();
    }
}
