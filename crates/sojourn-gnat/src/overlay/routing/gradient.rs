//! Gradients, which choose the queue and the neighbour: the pair with the largest one.
//!
//! A gradient is the depth of a queue here less that of the neighbour's queue for the same
//! destination; hops add a virtual depth, so that packets do not take detours where queues are
//! short.

use super::map::{Map, UNREACHABLE};

/// Virtual bytes for each hop that a destination is away.
const PER_HOP: f64 = 1_100.0;
/// A gradient has to be larger than this, in bytes, unless the neighbour is the destination.
const HYSTERESIS: f64 = 150.0;

/// Inputs of a gradient.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slope {
    /// Whether the neighbour is the destination.
    pub arrives: bool,
    /// Hops to the destination from here and from the neighbour.
    pub hops: [u32; 2],
    /// Depth of the queue here and at the neighbour, in bytes.
    pub depths: [f64; 2],
}

impl Slope {
    /// From the first member by the second, its neighbour, to the third.
    pub(crate) fn new(map: &Map, [me, neighbour, to]: [usize; 3], depths: [f64; 2]) -> Self {
        let hops = [me, neighbour].map(|from| map.hops(from)[to]);
        Slope { arrives: neighbour == to, hops, depths }
    }

    /// The gradient in bytes if packets may go there.
    pub(crate) fn gradient(&self) -> Option<f64> {
        let least = if self.arrives { 0.0 } else { HYSTERESIS };
        self.difference().filter(|gradient| *gradient > least)
    }

    /// The gradient, also where it is too small or negative, if a path leads there.
    pub(crate) fn difference(&self) -> Option<f64> {
        let Slope { arrives, hops, depths: [here, there] } = *self;
        if arrives {
            // A little more than a queue of the same depth elsewhere.
            return Some(here + PER_HOP * f64::from(hops[0].min(1)) + 1.0);
        }
        if hops.contains(&UNREACHABLE) {
            return None;
        }
        let virtual_depth = PER_HOP * (f64::from(hops[0]) - f64::from(hops[1]));
        Some(here - there + virtual_depth)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::overlay::message::{Delay, LinkState};
    use sojourn_base::units::Time;

    /// A triangle.
    fn map() -> Map {
        let mut map = Map::new(0, 3);
        for origin in 0..3_u16 {
            let others = (0..3).filter(|other| *other != origin);
            let links = others.map(|other| (other, Delay::default())).collect();
            map.learn(Time::ZERO, &Arc::new(LinkState { origin, number: 1, links }));
        }
        map
    }

    #[test]
    fn the_destination_draws_most_and_a_detour_needs_a_difference() {
        let map = map();
        let slope = |neighbour, depths| Slope::new(&map, [0, neighbour, 2], depths).gradient();
        assert_eq!(slope(2, [1000.0, 0.0]), Some(1000.0 + 1100.0 + 1.0));
        assert_eq!(slope(1, [1000.0, 200.0]), Some(800.0));
        assert_eq!(slope(1, [1000.0, 850.0]), None, "within the hysteresis");
    }

    #[test]
    fn nothing_goes_where_no_way_leads_on() {
        let mut map = map();
        let alone = Arc::new(LinkState { origin: 1, number: 2, links: vec![] });
        map.learn(Time::ZERO, &alone);
        let slope = Slope::new(&map, [0, 1, 2], [1e6, 0.0]);
        assert_eq!(slope.gradient(), None);
    }
}
