//! Physical layers: durations of frames.
//!
//! Clauses of IEEE Std 802.11-2016: OFDM (17, `a`), ERP-OFDM (18, `g`), HT (19, `n`), VHT (21, `ac`).
//! Durations follow the TXTIME equations of 17.4.3, 19.4.3 and 21.4.3; in the 2.4 GHz band every
//! OFDM frame is followed by a signal extension of 6 us (clauses 18 and 19).

use sojourn_base::registry::named;
use sojourn_base::units::Span;

named! {
    /// An amendment, by its letter.
    #[derive(Default)]
    Standard, "standard" {
        /// 802.11a: 5 GHz, OFDM, 54 Mbit/s.
        A = "a",
        /// 802.11g: 2.4 GHz, OFDM, 54 Mbit/s.
        G = "g",
        /// 802.11n: 2.4 GHz, HT.
        N = "n",
        /// 802.11ac: 5 GHz, VHT.
        #[default]
        Ac = "ac",
    }
}

/// A modulation and coding scheme with its number of streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mode {
    /// Index within the streams: of the eight OFDM rates, or the MCS of one stream.
    pub mcs: u8,
    /// Spatial streams.
    pub streams: u8,
    /// Data bits of an OFDM symbol.
    pub bits_per_symbol: u32,
    /// BCC encoders, each with six tail bits.
    encoders: u32,
    /// Preamble and signal fields.
    preamble: Span,
    /// Non-HT rate of the answer, in bits per symbol.
    answer: u32,
}

/// Durations of one standard.
#[derive(Clone, Debug)]
pub(crate) struct Phy {
    /// The standard.
    pub standard: Standard,
    /// The modes, those of one stream first, by rate.
    pub modes: Vec<Mode>,
    short_guard: bool,
    extension: Span,
}

/// Bits per subcarrier and the code rate of each MCS.
pub(crate) const MODULATIONS: [(u32, u32, u32); 10] = [
    (1, 1, 2),
    (2, 1, 2),
    (2, 3, 4),
    (4, 1, 2),
    (4, 3, 4),
    (6, 2, 3),
    (6, 3, 4),
    (6, 5, 6),
    (8, 3, 4),
    (8, 5, 6),
];

/// The same of the eight OFDM rates, 6 to 54 Mbit/s (Table 17-4).
pub(crate) const OFDM_MODULATIONS: [(u32, u32, u32); 8] =
    [(1, 1, 2), (1, 3, 4), (2, 1, 2), (2, 3, 4), (4, 1, 2), (4, 3, 4), (6, 2, 3), (6, 3, 4)];

/// Subcarriers that carry data in a non-HT frame of 20 MHz.
const OFDM_SUBCARRIERS: u32 = 48;
/// Bits per symbol at 6, 12 and 24 Mbit/s, the mandatory rates, which answers use.
const BASIC: [u32; 3] = [24, 48, 96];
/// A symbol with the long guard interval.
const SYMBOL: Span = Span::from_micros(4);
/// A symbol with the short one.
const SHORT_SYMBOL: Span = Span::from_nanos(3_600);
/// Preamble and SIGNAL of a non-HT frame.
pub(crate) const OFDM_PREAMBLE: Span = Span::from_micros(20);
/// SERVICE and the tail of one encoder.
const SERVICE_BITS: u32 = 16;
const TAIL_BITS: u32 = 6;

/// Data subcarriers by the channel's width in MHz (Tables 19-6 and 21-5).
pub(crate) fn subcarriers(width: u32) -> Option<u32> {
    Some(match width {
        20 => 52,
        40 => 108,
        80 => 234,
        160 => 468,
        _ => return None,
    })
}

impl Phy {
    /// All modes of a standard, in a channel of `width` MHz, with up to `streams` streams.
    pub(crate) fn new(standard: Standard, width: u32, streams: u8, short_guard: bool) -> Self {
        let modes = match standard {
            Standard::A | Standard::G => ofdm_modes(),
            Standard::N => high_throughput(standard, width, streams, 8),
            Standard::Ac => high_throughput(standard, width, streams, 10),
        };
        let extension = match standard {
            Standard::G | Standard::N => Span::from_micros(6),
            Standard::A | Standard::Ac => Span::ZERO,
        };
        let short_guard = short_guard && standard.aggregates();
        Phy { standard, modes, short_guard, extension }
    }

    /// Time on the air of a data frame of `bytes`.
    pub(crate) fn duration(&self, mode: usize, bytes: u32) -> Span {
        let mode = &self.modes[mode];
        let bits = SERVICE_BITS + 8 * bytes + TAIL_BITS * mode.encoders;
        let symbols = u64::from(bits.div_ceil(mode.bits_per_symbol));
        let data = if self.short_guard {
            let span = SHORT_SYMBOL * symbols;
            SYMBOL * span.as_nanos().div_ceil(SYMBOL.as_nanos())
        } else {
            SYMBOL * symbols
        };
        mode.preamble + data + self.extension
    }

    /// Bytes of the largest data frame that lasts at most `span`.
    pub(crate) fn largest(&self, mode: usize, span: Span) -> u32 {
        let rule = &self.modes[mode];
        let data = span - rule.preamble - self.extension;
        let groups = data.as_nanos() / SYMBOL.as_nanos();
        let symbols = match self.short_guard {
            true => groups * SYMBOL.as_nanos() / SHORT_SYMBOL.as_nanos(),
            false => groups,
        };
        let bits = symbols * u64::from(rule.bits_per_symbol);
        (bits.saturating_sub(u64::from(SERVICE_BITS + TAIL_BITS * rule.encoders)) / 8) as u32
    }

    /// Time on the air of an answer of `bytes` to a data frame sent in `mode`.
    pub(crate) fn answer(&self, mode: usize, bytes: u32) -> Span {
        self.control(self.modes[mode].answer, bytes)
    }

    /// Time on the air of an ACK at the lowest rate, which EIFS allows for.
    pub(crate) fn slowest_ack(&self) -> Span {
        self.control(BASIC[0], 14)
    }

    fn control(&self, bits_per_symbol: u32, bytes: u32) -> Span {
        let bits = SERVICE_BITS + 8 * bytes + TAIL_BITS;
        OFDM_PREAMBLE + SYMBOL * u64::from(bits.div_ceil(bits_per_symbol)) + self.extension
    }

    /// The short interframe space: 10 us at 2.4 GHz, 16 us at 5 GHz.
    pub(crate) fn sifs(&self) -> Span {
        match self.standard {
            Standard::G | Standard::N => Span::from_micros(10),
            Standard::A | Standard::Ac => Span::from_micros(16),
        }
    }

    /// A slot of 9 us; in the 2.4 GHz band that is the short one, without 802.11b stations.
    pub(crate) fn slot(&self) -> Span {
        Span::from_micros(9)
    }

    /// Time from the start of a frame until others hear it (`aCCATime`, below 4 us by 17.4.4).
    pub(crate) fn sensing(&self) -> Span {
        Span::from_micros(4)
    }

    /// The rate of a mode in bit/s, with the guard interval.
    pub(crate) fn rate(&self, mode: usize) -> f64 {
        let symbol = if self.short_guard { SHORT_SYMBOL } else { SYMBOL };
        f64::from(self.modes[mode].bits_per_symbol) / symbol.as_secs_f64()
    }

    /// The mode with this MCS and at most `streams` streams.
    pub(crate) fn find(&self, mcs: u8, streams: u8) -> Option<usize> {
        let found = |mode: &Mode| mode.mcs == mcs && mode.streams <= streams;
        self.modes.iter().rposition(found)
    }
}

impl Standard {
    /// Whether frames are aggregated and stations contend by access categories (QoS).
    pub fn aggregates(self) -> bool {
        matches!(self, Standard::N | Standard::Ac)
    }
}

/// The rate for answers: the highest basic one that is not above the data's (10.7.6.5).
fn answer(bits_per_symbol: u32) -> u32 {
    let below = BASIC.iter().rev().find(|basic| **basic <= bits_per_symbol);
    below.copied().unwrap_or(BASIC[0])
}

fn ofdm_modes() -> Vec<Mode> {
    let mode = |(mcs, (bits, numerator, denominator)): (u8, (u32, u32, u32))| {
        let bits_per_symbol = OFDM_SUBCARRIERS * bits * numerator / denominator;
        Mode {
            mcs,
            streams: 1,
            bits_per_symbol,
            encoders: 1,
            preamble: OFDM_PREAMBLE,
            answer: answer(bits_per_symbol),
        }
    };
    (0..).zip(OFDM_MODULATIONS).map(mode).collect()
}

/// HT and VHT modes of one to `streams` streams. The answer's rate follows from the modulation alone
/// (non-HT reference rate, Table 10-7).
fn high_throughput(standard: Standard, width: u32, streams: u8, count: usize) -> Vec<Mode> {
    let tones = subcarriers(width).unwrap_or(52);
    let mut modes = Vec::new();
    for streams in 1..=streams {
        for (mcs, (bits, numerator, denominator)) in (0..).zip(&MODULATIONS[..count]) {
            let coded = tones * bits * u32::from(streams);
            if !(coded * numerator).is_multiple_of(*denominator) {
                continue; // as MCS 9 in 20 MHz
            }
            let bits_per_symbol = coded * numerator / denominator;
            // Rates with the long guard interval: one encoder for each 300 (HT), 540 Mbit/s (VHT).
            let per_encoder = if standard == Standard::N { 1_200 } else { 2_160 };
            let encoders = bits_per_symbol.div_ceil(per_encoder);
            let reference = OFDM_SUBCARRIERS * bits * numerator / denominator;
            let (preamble, answer) = (preamble(standard, streams), answer(reference));
            modes.push(Mode { mcs, streams, bits_per_symbol, encoders, preamble, answer });
        }
    }
    modes
}

/// HT-mixed (19.3.2): L-STF, L-LTF, L-SIG, HT-SIG, HT-STF and the HT-LTFs. VHT (21.3.2): the same
/// with VHT-SIG-A in place of HT-SIG, and VHT-SIG-B at the end.
fn preamble(standard: Standard, streams: u8) -> Span {
    let training = match streams {
        3 => 4,
        streams => u64::from(streams),
    };
    let signal = if standard == Standard::Ac { 4 } else { 0 };
    Span::from_micros(8 + 8 + 4 + 8 + 4 + 4 * training + signal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Span {
        Span::from_micros(us)
    }

    #[test]
    fn rates_are_those_of_the_tables() {
        let top = |phy: &Phy| phy.rate(phy.modes.len() - 1) / 1e6;
        let n = Phy::new(Standard::N, 40, 2, true);
        let ac = Phy::new(Standard::Ac, 80, 2, true);
        assert!((top(&n) - 300.0).abs() < 1e-9);
        assert!((top(&ac) - 866.667).abs() < 1e-3);
        assert!((top(&Phy::new(Standard::G, 20, 1, true)) - 54.0).abs() < 1e-9);
        assert_eq!(Phy::new(Standard::Ac, 20, 1, false).modes.len(), 9, "no MCS 9 in 20 MHz");
        assert_eq!(n.find(7, 2), Some(15));
        assert_eq!(n.find(7, 1), Some(7));
    }

    #[test]
    fn durations_are_those_of_the_equations() {
        let a = Phy::new(Standard::A, 20, 1, false);
        // 1536 bytes at 54 Mbit/s: (16 + 12288 + 6) / 216 is 57 symbols.
        assert_eq!(a.duration(7, 1536), us(20 + 4 * 57));
        assert_eq!(a.answer(7, 14), us(28));
        assert_eq!(a.slowest_ack(), us(44));
        let g = Phy::new(Standard::G, 20, 1, false);
        assert_eq!(g.duration(7, 1536), us(20 + 4 * 57 + 6));
        // VHT, two streams, MCS 9: 3120 bits in 3.6 us; the end lies on a whole 4 us.
        let ac = Phy::new(Standard::Ac, 80, 2, true);
        let last = ac.modes.len() - 1;
        let symbols = (16 + 8 * 98_304u64 + 12).div_ceil(3120);
        let data = (symbols * 36).div_ceil(40) * 4;
        assert_eq!(ac.duration(last, 98_304), us(8 + 8 + 4 + 8 + 4 + 8 + 4 + data));
        assert_eq!(ac.answer(last, 32), us(32));
    }

    #[test]
    fn largest_is_the_inverse_of_the_duration() {
        for phy in [Phy::new(Standard::N, 40, 2, true), Phy::new(Standard::A, 20, 1, false)] {
            for mode in 0..phy.modes.len() {
                let span = us(3_000);
                let bytes = phy.largest(mode, span);
                assert!(phy.duration(mode, bytes) <= span);
                assert!(phy.duration(mode, bytes + 200) > span);
            }
        }
    }
}
