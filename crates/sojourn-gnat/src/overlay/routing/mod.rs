//! What a node knows of the network: links, ways, gradients, and when it advertises its own links.

mod advertising;
mod gradient;
mod map;

pub use advertising::Advertising;
pub use gradient::Slope;
pub use map::Map;
