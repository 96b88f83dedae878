//! Recorder of one component's state: a row whenever a value changes.

use super::{Log, Word};
use crate::observe::{Observed, Observer};
use crate::units::Time;

/// Recorder of a component's state.
#[derive(Debug)]
pub struct Watch {
    log: Log,
    component: Word,
    /// In the order in which the names first occurred, which is mostly that of every observation.
    seen: Vec<Seen>,
}

#[derive(Debug)]
struct Seen {
    name: String,
    word: Word,
    value: Value,
    /// Whether it occurred in this observation.
    fresh: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Absent,
    /// Bits of the number: NaN equals itself.
    Number(u64),
    Text(Word),
}

impl Watch {
    pub(super) fn new(log: Log, component: &str) -> Self {
        let component = log.rows().word(component);
        Watch { log, component, seen: Vec::new() }
    }

    /// A recorder of another component, for the same record.
    pub fn of(&self, component: &str) -> Self {
        Watch::new(self.log.clone(), component)
    }

    /// Records the changes since the last observation.
    pub fn look(&mut self, now: Time, observe: impl FnOnce(&mut Observer<'_>)) {
        let Watch { log, component, seen } = self;
        let mut rows = log.rows();
        let mut next = 0;
        observe(&mut |name, value| {
            let place = place_of(seen, next, name).unwrap_or_else(|| {
                let (word, value) = (rows.word(name), Value::Absent);
                seen.push(Seen { name: name.to_owned(), word, value, fresh: true });
                seen.len() - 1
            });
            next = place + 1;
            let (value, number, text) = match value {
                Observed::Number(number) => (Value::Number(number.to_bits()), number, 0),
                Observed::Text(text) => {
                    let text = rows.word(text);
                    (Value::Text(text), f64::NAN, text)
                }
            };
            let entry = &mut seen[place];
            entry.fresh = true;
            if entry.value != value {
                entry.value = value;
                rows.add_state(now, [*component, entry.word, text], number);
            }
        });
        for entry in seen {
            if !std::mem::take(&mut entry.fresh) && entry.value != Value::Absent {
                entry.value = Value::Absent;
                rows.add_state(now, [*component, entry.word, 0], f64::NAN);
            }
        }
    }
}

fn place_of(seen: &[Seen], next: usize, name: &str) -> Option<usize> {
    let is = |entry: &Seen| entry.name == name;
    if seen.get(next).is_some_and(is) { Some(next) } else { seen.iter().position(is) }
}
