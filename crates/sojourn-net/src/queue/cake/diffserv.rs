//! Cake's tins: which codepoint goes where, and what share of the rate and what weight each tin has.
//!
//! Model: `precedence`, `diffserv8`, `diffserv4`, `diffserv3` and the `cake_config_` functions of
//! those names in Linux 6.12 `net/sched/sch_cake.c`. The tin of the highest number has the highest
//! priority as long as it keeps within its share of the rate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The tins, as the keywords of `tc-cake(8)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Diffserv {
    /// One tin for all.
    Besteffort,
    /// Best effort; bulk, 1/16 of the rate (CS1, LE); voice, 1/4 (CS6, CS7, EF, VA, TOS4).
    #[default]
    Diffserv3,
    /// Best effort; bulk, 1/16 (CS1, LE); video, 1/2 (AF4x, AF3x, CS3, AF2x, CS2, TOS4); voice, 1/4
    /// (CS7, CS6, EF, VA, CS5, CS4).
    Diffserv4,
    /// Eight, each with 7/8 of the rate of the one before.
    Diffserv8,
    /// Eight by the upper three bits of the codepoint, with the same shares.
    Precedence,
}

/// The tin of each codepoint.
pub(super) type Table = [u8; 64];

static BESTEFFORT: Table = [0; 64];
static DIFFSERV3: Table = table(0, &[(1, &[1, 8]), (2, &[4, 44, 46, 48, 56])]);
static DIFFSERV4: Table = table(
    0,
    &[
        (1, &[1, 8]),
        (2, &[4, 16, 18, 20, 22, 24, 26, 28, 30, 34, 36, 38]),
        (3, &[32, 40, 44, 46, 48, 56]),
    ],
);
static DIFFSERV8: Table = table(
    2,
    &[
        (0, &[1]),
        (1, &[2, 8, 10, 12, 14]),
        (3, &[24, 26, 28, 30, 34, 36, 38]),
        (4, &[4, 18, 20, 22]),
        (5, &[16]),
        (6, &[32, 40, 44, 46]),
        (7, &[48, 56]),
    ],
);
static PRECEDENCE: Table = precedence();

/// All codepoints in tin `usual`, but for those of a list.
const fn table(usual: u8, others: &[(u8, &[u8])]) -> Table {
    let mut table = [usual; 64];
    let mut group = 0;
    while group < others.len() {
        let (tin, codepoints) = others[group];
        let mut place = 0;
        while place < codepoints.len() {
            table[codepoints[place] as usize] = tin;
            place += 1;
        }
        group += 1;
    }
    table
}

const fn precedence() -> Table {
    let mut table = [0; 64];
    let mut codepoint = 0;
    while codepoint < 64 {
        table[codepoint] = (codepoint >> 3) as u8;
        codepoint += 1;
    }
    table
}

/// A tin's share of the rate, and its weight where nothing is shaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    /// Rate up to which it has priority, in B/s.
    pub rate: u64,
    /// Bytes of a round.
    pub quantum: u16,
}

impl Diffserv {
    /// The tin of each codepoint.
    pub(super) fn table(self) -> &'static Table {
        match self {
            Diffserv::Besteffort => &BESTEFFORT,
            Diffserv::Diffserv3 => &DIFFSERV3,
            Diffserv::Diffserv4 => &DIFFSERV4,
            Diffserv::Diffserv8 => &DIFFSERV8,
            Diffserv::Precedence => &PRECEDENCE,
        }
    }

    /// The shares of the tins of a rate in B/s, by number.
    pub(super) fn shares(self, rate: u64) -> Vec<Share> {
        let halved = |times: &[u32]| -> Vec<Share> {
            times.iter().map(|n| Share { rate: rate >> *n, quantum: 1024_u16 >> *n }).collect()
        };
        match self {
            Diffserv::Besteffort => vec![Share { rate, quantum: u16::MAX }],
            Diffserv::Diffserv3 => halved(&[0, 4, 2]),
            Diffserv::Diffserv4 => halved(&[0, 4, 1, 2]),
            Diffserv::Diffserv8 | Diffserv::Precedence => {
                let next = |Share { rate, quantum }: &Share| {
                    Some(Share { rate: (rate * 7) >> 3, quantum: (quantum * 7) >> 3 })
                };
                std::iter::successors(Some(Share { rate, quantum: 256 }), next).take(8).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codepoints_go_to_the_tins_of_their_class() {
        // Codepoint, and its tin of 3, of 4, of 8 and by precedence.
        for (codepoint, tins) in [
            (0, [0, 0, 2, 0]),  // best effort
            (1, [1, 1, 0, 0]),  // LE
            (4, [2, 2, 4, 0]),  // TOS4
            (8, [1, 1, 1, 1]),  // CS1
            (10, [0, 0, 1, 1]), // AF11
            (16, [0, 2, 5, 2]), // CS2
            (24, [0, 2, 3, 3]), // CS3
            (32, [0, 3, 6, 4]), // CS4
            (34, [0, 2, 3, 4]), // AF41
            (40, [0, 3, 6, 5]), // CS5
            (44, [2, 3, 6, 5]), // VA
            (46, [2, 3, 6, 5]), // EF
            (48, [2, 3, 7, 6]), // CS6
            (56, [2, 3, 7, 7]), // CS7
            (63, [0, 0, 2, 7]), // unknown
        ] {
            let modes = [
                Diffserv::Diffserv3,
                Diffserv::Diffserv4,
                Diffserv::Diffserv8,
                Diffserv::Precedence,
            ];
            assert_eq!(modes.map(|mode| mode.table()[codepoint]), tins, "{codepoint}");
            assert_eq!(Diffserv::Besteffort.table()[codepoint], 0);
        }
    }

    #[test]
    fn tins_have_their_shares_of_the_rate_and_their_quanta() {
        let shares = |mode: Diffserv| -> Vec<(u64, u16)> {
            mode.shares(1_000_000).iter().map(|share| (share.rate, share.quantum)).collect()
        };
        assert_eq!(shares(Diffserv::Besteffort), [(1_000_000, 65_535)]);
        assert_eq!(shares(Diffserv::Diffserv3), [(1_000_000, 1024), (62_500, 64), (250_000, 256)]);
        assert_eq!(
            shares(Diffserv::Diffserv4),
            [(1_000_000, 1024), (62_500, 64), (500_000, 512), (250_000, 256)]
        );
        let eight = [256, 224, 196, 171, 149, 130, 113, 98];
        assert_eq!(shares(Diffserv::Diffserv8).iter().map(|s| s.1).collect::<Vec<_>>(), eight);
        assert_eq!(
            shares(Diffserv::Diffserv8)[..3],
            [(1_000_000, 256), (875_000, 224), (765_625, 196)]
        );
        assert_eq!(shares(Diffserv::Precedence), shares(Diffserv::Diffserv8));
    }
}
