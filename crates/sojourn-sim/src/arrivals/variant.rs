//! Variants of an entry's connections, and the choice between them.

use super::ArrivalsSpec;
use crate::spec::FlowSpec;

/// A set of keys that some of an entry's connections have; they share their routes.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Keys of the connections.
    pub flow: FlowSpec,
    /// Share of the entry's transfers; the shares of its variants add up to 1.
    pub weight: f64,
    /// Index of its routes in the plan of the network.
    pub path: usize,
}

impl Variant {
    /// The variants of an entry whose first one has the routes of index `first`.
    pub fn of(entry: &ArrivalsSpec, first: usize) -> Vec<Variant> {
        let variants = entry.variants();
        let total: f64 = variants.iter().map(|(weight, _)| weight).sum();
        let numbered = variants.into_iter().zip(first..);
        numbered
            .map(|((weight, flow), path)| Variant {
                flow: flow.clone(),
                weight: weight / total,
                path,
            })
            .collect()
    }
}

/// The variant that a uniform draw in [0, 1) chooses.
pub(super) fn choose(entry: &ArrivalsSpec, draw: f64) -> u16 {
    let weights = entry.mix.iter().map(|(weight, _)| *weight);
    let mut left = draw * weights.clone().sum::<f64>();
    for (index, weight) in (0..).zip(weights) {
        left -= weight;
        if left < 0.0 {
            return index;
        }
    }
    entry.mix.len().saturating_sub(1) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrivals::testing::entry;

    #[test]
    fn variants_are_chosen_by_weight_and_have_consecutive_routes() {
        let mut entry = entry(serde_json::json!({ "size": "1 kB", "rate": "1 /s" }));
        assert_eq!(choose(&entry, 0.99), 0);
        entry.mix = [1.0, 3.0].map(|weight| (weight, entry.flow.clone())).to_vec();
        let chosen = [0.0, 0.249, 0.251, 0.999].map(|draw| choose(&entry, draw));
        assert_eq!(chosen, [0, 0, 1, 1]);
        let variants = Variant::of(&entry, 5);
        let told: Vec<_> = variants.iter().map(|variant| (variant.weight, variant.path)).collect();
        assert_eq!(told, [(0.25, 5), (0.75, 6)]);
    }
}
