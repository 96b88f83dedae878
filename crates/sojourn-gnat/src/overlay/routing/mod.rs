//! What a node knows of the network: links, ways, gradients, and when it advertises its own links.

mod advertising;
mod gradient;
mod map;

pub(super) use advertising::Advertising;
pub(super) use gradient::Slope;
pub(super) use map::Map;
