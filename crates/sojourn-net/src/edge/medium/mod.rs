//! Shared media: one file each, one registry line each.
//!
//! Stations at the ends of links share a medium; each link on it is a *channel*, an edge with a
//! [`Medium`](super::Medium) instead of a transmitter of its own. The link's other effects (delay,
//! losses) apply after reception, see [`tail`].

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::link::{LinkSpec, RecordedQueue};
use crate::error::FieldError;
use crate::queue::QueueInit;
use crate::record::live::{Tap, Watch};
use crate::registry::{self, Catalogue, Entry, Listing, NoFacts, Params, members};
use crate::rng::StreamKey;
use crate::spec::{AccessCategory, Queue, Spec};

mod kind;
pub mod lanes;
pub mod tail;
/// What `sojourn new medium` writes must compile and pass its own test.
#[cfg(test)]
#[path = "../../../../../python/sojourn/templates/medium.rs"]
#[allow(clippy::upper_case_acronyms)]
mod template;
#[cfg(test)]
mod testing;

members! {
    crate::spec::Medium;
}

/// Constructor of a medium. Errors: a parameter is wrong, or its links do not fit.
pub type Make = fn(
    &Map<String, Value>,
    MediumInit<'_>,
    &Catalogue,
) -> Result<Box<dyn super::Medium>, FieldError>;

/// Parameters of a medium that depend on the network it is in.
pub struct MediumInit<'a> {
    /// Its links, in the order of their channel numbers.
    pub channels: Vec<Channel<'a>>,
    /// For each flow, the priority of its packets in contention.
    pub categories: Vec<AccessCategory>,
    /// Names its random draws.
    pub random: StreamKey,
    /// Recorder of which station has the medium.
    pub watch: Option<Watch>,
}

/// Parameters of a link on a medium.
pub struct Channel<'a> {
    /// Its name.
    pub id: &'a str,
    /// The stations that send on it and receive from it.
    pub stations: [&'a str; 2],
    /// The link in the scenario.
    pub link: &'a LinkSpec,
    /// Parameters of its queue that depend on the network.
    pub queue: QueueInit,
    /// Recorder of its queue's state.
    pub watch: Option<Watch>,
    /// Recorder of its packets.
    pub tap: Option<Tap>,
}

/// A medium that can be registered.
pub trait Registered: super::Medium + Sized + 'static {
    /// Its parameters.
    type Params: Params;

    /// Builds it. Parameters are validated.
    ///
    /// # Errors
    /// If the links do not fit.
    fn new(
        params: Self::Params,
        init: MediumInit<'_>,
        catalogue: &Catalogue,
    ) -> Result<Self, FieldError>;
}

/// The entry of the medium `M`, whose `source` begins with its documentation.
pub fn entry<M: Registered>(
    name: &'static str,
    source: &'static str,
) -> Entry<crate::spec::Medium> {
    Entry {
        listing: Listing::new::<M::Params>(name, source),
        facts: NoFacts {},
        make: |params, init, catalogue| {
            let params = registry::parse_params(params, catalogue)?;
            Ok(Box::new(M::new(params, init, catalogue)?))
        },
    }
}

impl MediumInit<'_> {
    /// The names of its stations, each once, in the order of their first links.
    pub fn stations(&self) -> Vec<String> {
        let mut known = BTreeSet::new();
        let named = self.channels.iter().flat_map(|channel| channel.stations);
        named.filter(|name| known.insert(*name)).map(str::to_owned).collect()
    }
}

impl Channel<'_> {
    /// Builds the queue of the channel, or of its packets that `part` names where it has several
    /// queues: the link's discipline, or else `default`; recorded if the channel has a watch.
    ///
    /// # Errors
    /// If the discipline or a parameter is wrong.
    pub fn queue(
        &self,
        part: Option<&str>,
        default: &Spec<Queue>,
        random: StreamKey,
        catalogue: &Catalogue,
    ) -> Result<lanes::Queue, FieldError> {
        let queue = self.link.queue.as_ref().unwrap_or(default);
        let init = QueueInit { random: random.child("queue").child(self.id), ..self.queue };
        let made = catalogue
            .find::<Queue>(&queue.kind)
            .and_then(|entry| (entry.make)(&queue.params, &init, catalogue))
            .map_err(|e| e.within("queue"))?;
        let watch = self.watch.as_ref().map(|watch| {
            let part = part.map(|part| format!(".{part}")).unwrap_or_default();
            watch.of(&format!("link.{}.queue{part}", self.id))
        });
        Ok(lanes::Queue::new(match watch {
            Some(watch) => Box::new(RecordedQueue::new(made.boxed(), Some(watch), None)),
            None => made.boxed(),
        }))
    }
}
