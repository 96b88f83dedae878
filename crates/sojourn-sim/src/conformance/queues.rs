//! Conformance of queue disciplines at a link of 10 Mbit/s: packets of several flows and codepoints
//! at random times, and more than the link can carry.

use super::queue_bench::{Bench, Breaches, Step, slot};
use super::{Check, Measured, Subject};
use crate::error::{Fault, FieldError, unless_ended};
use crate::packet::Ecn;
use crate::rng::StreamKey;
use crate::spec::Queue;
use crate::units::Time;

/// Every check.
pub static CHECKS: &[Check] = &[
    Check {
        name: "balance",
        legend: "of 20000 random steps, those after which a packet that came in is neither sent, \
                 dropped nor waiting; 0",
        measure: |q| breaches(q, |b| b.balance),
        required: (0.0, 0.0),
    },
    Check {
        name: "gives back",
        legend: "packets that never come out when nothing else arrives; 0",
        measure: |q| breaches(q, |b| b.stuck),
        required: (0.0, 0.0),
    },
    Check {
        name: "counts",
        legend: "counters of drops and marks that differ from what happened; 0",
        measure: |q| breaches(q, |b| b.counts),
        required: (0.0, 0.0),
    },
    Check {
        name: "order",
        legend: "packets that left after a later one of their flow, unless it declares that; 0",
        measure: |q| breaches(q, |b| b.order),
        required: (0.0, 0.0),
    },
    Check {
        name: "codepoints",
        legend: "packets whose ECN codepoint was changed to one that is not allowed; 0",
        measure: |q| breaches(q, |b| b.marks),
        required: (0.0, 0.0),
    },
    Check {
        name: "same again",
        legend: "1 if the same packets have the same outcome a second time",
        measure: |q| {
            let once = || at_random(q).map(|bench| bench.fate());
            Ok(f64::from(u8::from(once()? == once()?)))
        },
        required: (1.0, 1.0),
    },
    Check {
        name: "overload",
        legend: "share dropped of a load of 10 times the link's rate, after one of 1.1 times; at \
                 least 0.62",
        measure: |q| {
            let bench = overloaded(q)?;
            let drops: u64 = bench.counters.drops.iter().sum();
            Ok(drops as f64 / bench.offered.packets as f64)
        },
        required: (0.62, 1.0),
    },
    Check {
        name: "marks",
        legend: "1 if it marks in that overload as it declares: some if it marks, else none",
        measure: |q| {
            let marks = overloaded(q)?.counters.ce_marks > 0;
            Ok(f64::from(u8::from(marks == q.entry::<Queue>().facts.marks)))
        },
        required: (1.0, 1.0),
    },
];

/// Applies `work` to a discipline; if the discipline ends the run, that is a fault.
fn put_through(subject: &Subject, work: impl FnOnce(&mut Bench)) -> Result<Bench, Fault> {
    let fault = |component: String, message: String| Fault { time: Time::ZERO, component, message };
    let done = unless_ended(|| {
        let mut bench = Bench::new(subject, 1)?;
        work(&mut bench);
        Ok(bench)
    });
    let refused = |error: FieldError| fault(subject.name.clone(), error.to_string());
    done.map_err(|ended| ended.at(Time::ZERO))?.map_err(refused)
}

fn breaches(subject: &Subject, count: fn(&Breaches) -> u64) -> Measured {
    let bench = at_random(subject)?;
    Ok(count(&bench.breaches(&subject.entry::<Queue>().facts)) as f64)
}

/// Six flows in both directions: bursts and pauses.
fn at_random(subject: &Subject) -> Result<Bench, Fault> {
    let random = StreamKey::root(1);
    let draw = |step: u64, of: u64, below: u32| {
        (random.uniform_at(4 * step + of) * f64::from(below)) as u32
    };
    put_through(subject, |bench| {
        for step in 0..20_000 {
            bench.step(match draw(step, 0, 13) {
                0..6 => {
                    let sizes = [1500, 52, 40 + draw(step, 1, 1460)];
                    let word = draw(step, 2, 72);
                    let codepoints = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce];
                    Step::Arrival {
                        flow: word % 6,
                        size: sizes[draw(step, 3, 3) as usize],
                        ecn: codepoints[(word / 6 % 4) as usize],
                        back: word / 24 == 1,
                    }
                }
                6..10 => Step::Departure,
                10..12 => Step::Pause { micros: draw(step, 1, 5_000).into() },
                _ => Step::Pause { micros: draw(step, 1, 300_000).into() },
            });
        }
        bench.drain();
    })
}

/// First a tenth of the link's rate, then ten times of it, for long enough that every law acts.
pub fn overloaded(subject: &Subject) -> Result<Bench, Fault> {
    put_through(subject, |bench| {
        for n in 0..10_000u32 {
            let ecn = if n % 2 == 0 { Ecn::Ect0 } else { Ecn::NotEct };
            let arrivals = if n < 4_000 { 1 + u32::from(n % 10 == 0) } else { 10 };
            for i in 0..arrivals {
                bench.step(Step::Arrival { flow: (n + i) % 4, size: 1500, ecn, back: false });
            }
            bench.step(Step::Departure);
            bench.step(Step::Pause { micros: slot().as_nanos() / 1000 });
        }
        bench.drain();
    })
}
