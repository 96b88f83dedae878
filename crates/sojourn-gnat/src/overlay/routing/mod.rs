//! Routing: a node's map of links and paths, gradients, and the timer of its advertisements.

mod advertising;
mod gradient;
mod map;

pub(super) use advertising::Advertising;
pub(super) use gradient::Slope;
pub(super) use map::Map;
