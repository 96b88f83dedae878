//! Assignment of links to shared media.

use super::{Plan, PlannedLink};
use crate::edge::medium::{Channel, MediumInit};
use crate::edge::medium_spec::MediumSpec;
use crate::error::FieldError;
use crate::queue::QueueInit;
use crate::registry::Catalogue;
use crate::rng::StreamKey;
use crate::spec::AccessCategory;
use crate::spec::limits::require_label;

/// A medium and the links on it, by their indices in the plan: the order of its channels.
#[derive(Clone, Debug)]
pub struct PlannedMedium {
    /// Its name and kind.
    pub spec: MediumSpec,
    /// The field that defines it.
    pub field: String,
    /// Its links.
    pub links: Vec<usize>,
}

impl Plan {
    /// The media of links: entries of the scenario's `media`, and links' own.
    ///
    /// # Errors
    /// If a link names none of them, two have one name, or no link is on one.
    pub fn shared(&self, media: &[MediumSpec]) -> Result<Vec<PlannedMedium>, FieldError> {
        let own = self.media.iter().map(|spec| (spec, format!("topology.{}.medium", spec.id)));
        let listed = (0..).zip(media).map(|(index, spec)| (spec, format!("media.{index}")));
        let mut planned: Vec<PlannedMedium> = Vec::new();
        for (spec, field) in listed.chain(own) {
            require_label(&format!("{field}.id"), &spec.id)?;
            if planned.iter().any(|known| known.spec.id == spec.id) {
                let message = format!("'{}' names two media", spec.id);
                return Err(FieldError::new(format!("{field}.id"), message));
            }
            planned.push(PlannedMedium { spec: spec.clone(), field, links: Vec::new() });
        }
        for (index, link) in self.links.iter().enumerate() {
            let Some((id, _)) = &link.on else { continue };
            match planned.iter_mut().find(|medium| medium.spec.id == *id) {
                Some(medium) => medium.links.push(index),
                None => return Err(unknown(link, id, &planned)),
            }
        }
        match planned.iter().find(|medium| medium.links.is_empty()) {
            Some(unused) => {
                let message =
                    format!("no link has medium = \"{}\"; add it to a link", unused.spec.id);
                Err(FieldError::new(format!("{}.id", unused.field), message))
            }
            None => Ok(planned),
        }
    }

    /// Checks that each medium can be built with its links.
    ///
    /// # Errors
    /// Names the field.
    pub fn check_media(
        &self,
        media: &[MediumSpec],
        catalogue: &Catalogue,
    ) -> Result<(), FieldError> {
        for medium in self.shared(media)? {
            let channels = medium.links.iter().map(|link| self.links[*link].channel(plain()));
            let init = MediumInit {
                channels: channels.collect(),
                categories: Vec::new(),
                random: StreamKey::root(0),
                watch: None,
            };
            medium.build(init, catalogue)?;
        }
        Ok(())
    }
}

impl PlannedMedium {
    /// Builds the medium.
    ///
    /// # Errors
    /// If its links do not fit.
    pub fn build(
        &self,
        init: MediumInit<'_>,
        catalogue: &Catalogue,
    ) -> Result<Box<dyn crate::edge::Medium>, FieldError> {
        let kind = &self.spec.kind;
        let entry = catalogue.find::<crate::spec::Medium>(&kind.kind)?;
        (entry.make)(&kind.params, init, catalogue).map_err(|e| e.within(&self.field))
    }
}

impl PlannedLink {
    /// The link as a channel of its medium, with a queue in this place.
    pub fn channel(&self, queue: QueueInit) -> Channel<'_> {
        let stations = match &self.on {
            Some((_, [from, to])) => [from.as_str(), to.as_str()],
            None => ["", ""],
        };
        Channel { id: &self.id, stations, link: &self.spec, queue, watch: None, tap: None }
    }
}

fn plain() -> QueueInit {
    QueueInit::new(None, StreamKey::root(0))
}

fn unknown(link: &PlannedLink, id: &str, planned: &[PlannedMedium]) -> FieldError {
    let names: Vec<&str> = planned.iter().map(|medium| medium.spec.id.as_str()).collect();
    let error = FieldError::unknown_name("medium", "shared medium", id, &names);
    FieldError::new("topology", format!("medium of link '{}': {}", link.id, error.message))
}

/// For each flow, the priority of its packets in contention.
pub fn categories(flows: &[crate::spec::Flow<'_>]) -> Vec<AccessCategory> {
    flows.iter().map(|flow| flow.spec.access_category).collect()
}
