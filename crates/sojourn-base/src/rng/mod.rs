//! Named random streams.
//!
//! A stream is named by the run's seed and the path of the component that draws from it, so that
//! adding a flow or a link does not shift another component's draws. Draws that belong to a packet
//! are counter-based: whether the n-th packet of a flow is lost on a link depends on nothing else.

pub mod draw;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Generator of a component that draws in sequence.
pub type Stream = Xoshiro256PlusPlus;

/// Name of a random stream: hashes the run's seed with the parts of a component's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamKey(u64);

impl StreamKey {
    /// The root of all streams of a run.
    pub fn root(seed: u64) -> Self {
        StreamKey(mix(seed ^ 0x9E37_79B9_7F4A_7C15))
    }

    /// The stream of a named part below this one, for example `"loss"`.
    pub fn child(self, name: &str) -> Self {
        name.bytes().fold(self.index(name.len() as u64), |key, byte| {
            StreamKey(mix(key.0 ^ u64::from(byte)))
        })
    }

    /// The stream of a numbered part below this one, for example a flow.
    #[inline]
    pub fn index(self, index: u64) -> Self {
        StreamKey(mix(self.0.wrapping_add(index.wrapping_mul(0xD1B5_4A32_D192_ED03)) ^ 0xA5A5))
    }

    /// The seed of this stream, for external generators.
    pub fn seed(self) -> u64 {
        self.0
    }

    /// A sequential generator for this stream.
    pub fn stream(self) -> Stream {
        Xoshiro256PlusPlus::seed_from_u64(self.0)
    }

    /// The `n`-th draw of this stream, uniform in [0, 1), without any state.
    #[inline]
    pub fn uniform_at(self, n: u64) -> f64 {
        (self.index(n).0 >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

/// Finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection that scatters every input bit.
#[inline]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_uniform_and_independent_of_order() {
        let key = StreamKey::root(42).child("loss").index(3);
        let n = 100_000;
        let mean: f64 = (0..n).map(|i| key.uniform_at(i)).sum::<f64>() / n as f64;
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
        assert_eq!(key.uniform_at(7), key.uniform_at(7));
        assert_ne!(key.uniform_at(7), key.index(0).uniform_at(7));
    }

    #[test]
    fn names_make_different_streams() {
        let root = StreamKey::root(1);
        assert_ne!(root.child("ab"), root.child("ba"));
        assert_ne!(root.child("a").child("b"), root.child("ab"));
        assert_ne!(root, StreamKey::root(2));
    }
}
