//! Draws from distributions, computed with `libm`, so that they have the same bits on every machine
//! (platform libraries differ in the last bit).

use rand::{Rng, RngExt};

/// Uniform in (0, 1].
fn share(rng: &mut impl Rng) -> f64 {
    1.0 - rng.random::<f64>()
}

/// Uniform in [0, 1).
pub fn uniform(rng: &mut impl Rng) -> f64 {
    rng.random()
}

/// Exponential, of mean 1.
pub fn exponential(rng: &mut impl Rng) -> f64 {
    -libm::log(share(rng))
}

/// Standard normal.
pub fn normal(rng: &mut impl Rng) -> f64 {
    let (radius, angle) = (share(rng), rng.random());
    normal_of(radius, angle)
}

/// Standard normal, from two uniform draws, in (0, 1] and in [0, 1) (Box and Muller).
pub fn normal_of(radius: f64, angle: f64) -> f64 {
    (-2.0 * libm::log(radius)).sqrt() * libm::cos(std::f64::consts::TAU * angle)
}

/// Pareto: never below `scale`, tail index `shape`.
pub fn pareto(scale: f64, shape: f64, rng: &mut impl Rng) -> f64 {
    scale * libm::pow(share(rng), -1.0 / shape)
}

/// Pareto of tail index `shape` between `least` and `most`: the distribution of a Pareto draw that is
/// between them.
pub fn bounded_pareto(least: f64, most: f64, shape: f64, rng: &mut impl Rng) -> f64 {
    let beyond = libm::pow(least / most, shape);
    let share = 1.0 - uniform(rng) * (1.0 - beyond);
    (least * libm::pow(share, -1.0 / shape)).min(most)
}

/// Lognormal, of the given mean and standard deviation (of the draw, not its logarithm).
pub fn lognormal(mean: f64, deviation: f64, rng: &mut impl Rng) -> f64 {
    let ratio = deviation / mean;
    let variance = libm::log1p(ratio * ratio);
    mean * libm::exp(variance.sqrt() * normal(rng) - variance / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Stream, StreamKey};

    /// A change of one bit of a draw changes results on all machines: only on purpose.
    #[test]
    fn draws_have_the_same_bits_everywhere() {
        let mut rng = StreamKey::root(42).stream();
        let mut bits = |draw: fn(&mut Stream) -> f64| [(); 3].map(|()| draw(&mut rng).to_bits());
        assert_eq!(
            bits(exponential),
            [4607659973464426612, 4591379439002357942, 4611795387564493039]
        );
        assert_eq!(bits(normal), [4606323805610732945, 13814598542932623557, 4598282162039013871]);
        assert_eq!(
            bits(|rng| pareto(3.0, 1.5, rng)),
            [4617041839078934233, 4615924820462919567, 4616192578760038921]
        );
        assert_eq!(
            bits(|rng| lognormal(10.0, 25.0, rng)),
            [4620284023553521935, 4599591085607331719, 4597043172910221949]
        );
    }

    /// Mean and variance of many draws.
    fn moments(draw: fn(&mut Stream) -> f64) -> (f64, f64) {
        let mut rng = StreamKey::root(7).stream();
        let draws: Vec<f64> = (0..1_000_000).map(|_| draw(&mut rng)).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let square = |draw: &f64| (draw - mean) * (draw - mean);
        (mean, draws.iter().map(square).sum::<f64>() / draws.len() as f64)
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        let near = |(mean, variance): (f64, f64), expected: (f64, f64)| {
            assert!((mean - expected.0).abs() < 0.01, "{mean}, not {}", expected.0);
            assert!((variance - expected.1).abs() < 0.02, "{variance}, not {}", expected.1);
        };
        near(moments(exponential), (1.0, 1.0));
        near(moments(normal), (0.0, 1.0));
        // Of tail index a: a / (a - 1) and a / ((a - 1)^2 (a - 2)).
        near(moments(|rng| pareto(1.0, 6.0, rng)), (1.2, 0.06));
        near(moments(|rng| lognormal(2.0, 0.5, rng)), (2.0, 0.25));
    }
}
