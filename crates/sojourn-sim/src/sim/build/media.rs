//! Shared media of a scenario, built from its plan.

use std::collections::BTreeMap;

use super::links::BuiltLink;
use crate::edge::medium::MediumInit;
use crate::edge::medium::tail::Tail;
use crate::error::FieldError;
use crate::net;
use crate::record::live::Log;
use crate::rng::StreamKey;
use crate::scenario::Scenario;
use crate::spec::Recorded;
use crate::topology;

/// Adds the shared media to a network; returns their indices by name.
pub(super) fn media(
    scenario: &Scenario,
    links: &mut [BuiltLink],
    net: &mut net::Builder,
    log: Option<&Log>,
) -> Result<BTreeMap<String, usize>, FieldError> {
    let plan = scenario.plan();
    let mut added = BTreeMap::new();
    for shared in plan.shared(&scenario.media)? {
        let (mut channels, mut tails, mut taps) = (Vec::new(), Vec::new(), Vec::new());
        for index in &shared.links {
            let built = &mut links[*index];
            tails.push(built.link.take());
            taps.push(built.tap.take());
            let mut channel = plan.links[*index].channel(built.queue);
            channel.watch = built.watch.take();
            channel.tap.clone_from(&taps[taps.len() - 1]);
            channels.push(channel);
        }
        let random = StreamKey::root(scenario.seed).child("medium").child(&shared.spec.id);
        let categories = topology::categories(&scenario.flows_expanded());
        let watch =
            log.and_then(|log| log.watch(Recorded::Queue, &format!("medium.{}", shared.spec.id)));
        let init = MediumInit { channels, categories, random, watch };
        let medium = shared.build(init, scenario.catalogue())?;
        let plain = tails.iter().all(Option::is_none) && taps.iter().all(Option::is_none);
        let medium = if plain { medium } else { Box::new(Tail::new(medium, tails, taps)) };
        added.insert(shared.spec.id.clone(), net.medium(medium));
    }
    Ok(added)
}
