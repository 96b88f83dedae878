//! What has changed since it was told.

use serde_json::{Map, Value};

/// Values by name, as they were told last.
#[derive(Debug, Default)]
pub(super) struct Told(Vec<(String, Value)>);

impl Told {
    /// Puts a value into `changed`, unless it is that which was told last.
    pub(super) fn tell(&mut self, name: &str, value: Value, changed: &mut Map<String, Value>) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, last)) if *last == value => return,
            Some((_, last)) => last.clone_from(&value),
            None => self.0.push((name.to_owned(), value.clone())),
        }
        changed.insert(name.to_owned(), value);
    }
}
