//! Errors of data frames by the signal-to-noise ratio.
//!
//! Model: G. Pei and T. Henderson, "Validation of OFDM error rate model in ns-3" (2010), also
//! ns-3's `NistErrorRateModel`. The bit error rate of the modulation in white noise gives, by the
//! union bound over the code's first distances (punctured code of constraint length 7), the
//! probability of a decoding error at a bit; bits fail independently. The ratio is that of each
//! subcarrier and stream.

use super::phy::{MODULATIONS, Mode, OFDM_MODULATIONS, Phy};

/// First distance of the code, its step, and the number of errors on each path of that distance.
struct Code {
    bits: f64,
    first: i32,
    step: i32,
    weights: &'static [f64],
}

const HALF: Code = Code {
    bits: 1.0,
    first: 10,
    step: 2,
    weights: &[36.0, 211.0, 1404.0, 11_633.0, 77_433.0, 502_690.0, 3_322_763.0, 21_292_910.0],
};
const TWO_THIRDS: Code = Code {
    bits: 2.0,
    first: 6,
    step: 1,
    weights: &[3.0, 70.0, 285.0, 1276.0, 6160.0, 27_128.0, 117_019.0, 498_860.0, 2_103_891.0],
};
const THREE_QUARTERS: Code = Code {
    bits: 3.0,
    first: 5,
    step: 1,
    weights: &[42.0, 201.0, 1492.0, 10_469.0, 62_935.0, 379_644.0, 2_253_373.0, 13_073_811.0],
};
const FIVE_SIXTHS: Code = Code {
    bits: 5.0,
    first: 4,
    step: 1,
    weights: &[92.0, 528.0, 8694.0, 79_453.0, 792_114.0, 7_375_573.0, 67_884_974.0],
};

/// Natural logarithm of the probability that a bit is decoded correctly.
pub(crate) fn log_bit_success(phy: &Phy, mode: &Mode, snr_db: f64) -> f64 {
    let table: &[(u32, u32, u32)] =
        if phy.standard.aggregates() { &MODULATIONS } else { &OFDM_MODULATIONS };
    let (bits, numerator, denominator) = table[usize::from(mode.mcs)];
    let code = match (numerator, denominator) {
        (1, 2) => HALF,
        (2, 3) => TWO_THIRDS,
        (3, 4) => THREE_QUARTERS,
        _ => FIVE_SIXTHS,
    };
    let raw = bit_error_rate(bits, libm::pow(10.0, snr_db / 10.0));
    let wrong = decoding_error_rate(&code, raw);
    if wrong >= 1.0 { f64::NEG_INFINITY } else { libm::log1p(-wrong) }
}

/// Bit error rate of BPSK, QPSK, 16-, 64- and 256-QAM with Gray mapping.
fn bit_error_rate(bits: u32, snr: f64) -> f64 {
    let (factor, divisor) = match bits {
        1 => (0.5, 1.0),
        2 => (0.5, 2.0),
        4 => (0.375, 10.0),
        6 => (7.0 / 24.0, 42.0),
        _ => (15.0 / 64.0, 170.0),
    };
    factor * erfc((snr / divisor).sqrt())
}

fn decoding_error_rate(code: &Code, raw: f64) -> f64 {
    let distance = (4.0 * raw * (1.0 - raw)).sqrt();
    let terms = (0..).zip(code.weights);
    let sum: f64 = terms
        .map(|(i, weight)| weight * libm::pow(distance, f64::from(code.first + i * code.step)))
        .sum();
    (sum / (2.0 * code.bits)).min(1.0)
}

/// Complementary error function for `x >= 0`: a rational Chebyshev fit (Numerical Recipes, `erfcc`),
/// relative error below 1.2e-7.
fn erfc(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 10] = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let t = 1.0 / (1.0 + 0.5 * x);
    let series = COEFFICIENTS.iter().rev().fold(0.0, |sum, c| sum * t + c);
    t * libm::exp(series - x * x)
}

#[cfg(test)]
mod tests {
    use super::super::phy::Standard;
    use super::*;

    #[test]
    fn complementary_error_function_is_that_of_the_tables() {
        for (x, expected) in [(0.0, 1.0), (0.5, 0.479_500_1), (1.0, 0.157_299_2), (3.0, 2.209e-5)] {
            assert!((erfc(x) / expected - 1.0).abs() < 1e-4, "{x}");
        }
    }

    /// Each mode needs more than the one before, and goes from near 0 to near 1 within 4 dB.
    #[test]
    fn faster_modes_need_more_signal() {
        let phy = Phy::new(Standard::Ac, 80, 1, true);
        let needed: Vec<f64> = phy
            .modes
            .iter()
            .map(|mode| {
                let frame = |snr: f64| (12_000.0 * log_bit_success(&phy, mode, snr)).exp();
                let half = (0..600).map(|i| f64::from(i) * 0.1).find(|snr| frame(*snr) > 0.5);
                let half = half.unwrap();
                assert!(frame(half - 2.0) < 0.01 && frame(half + 2.0) > 0.98, "{half}");
                half
            })
            .collect();
        assert!(needed.windows(2).all(|pair| pair[0] < pair[1]), "{needed:?}");
        assert!((1.0..6.0).contains(&needed[0]) && (26.0..36.0).contains(&needed[9]), "{needed:?}");
    }
}
