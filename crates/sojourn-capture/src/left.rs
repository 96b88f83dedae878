//! What of a capture is left out, and why.

use std::collections::BTreeMap;

use crate::reader::Damage;

/// Why a frame is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Left {
    /// It has no time.
    Untimed,
    /// Its interface's type of link is not read.
    Link,
    /// It is no IP packet.
    NotIp,
    /// It is a fragment of an IP packet.
    Fragment,
    /// It is neither TCP nor UDP.
    Transport,
    /// Not enough of it was captured, or its headers contradict each other.
    Cut,
    /// It passed another interface than that of its connection; of a run, a link's.
    Elsewhere,
    /// Its flows are not among those with the most payload.
    Surplus,
}

impl Left {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Left::Untimed => "without a time",
            Left::Link => "of links that are not read",
            Left::NotIp => "neither IPv4 nor IPv6",
            Left::Fragment => "fragments",
            Left::Transport => "neither TCP nor UDP",
            Left::Cut => "with headers cut off or wrong",
            Left::Elsewhere => "at other interfaces",
            Left::Surplus => "of flows beyond those with the most payload",
        }
    }
}

/// What became of the frames of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Frames that were read.
    pub frames: u64,
    /// Those of them whose packets are counted in flows.
    pub counted: u64,
    /// Those that are not, by reason.
    pub left: BTreeMap<Left, u64>,
    /// Where the file ends before its end, if it does.
    pub damage: Option<Damage>,
}

impl Told {
    pub(crate) fn leave(&mut self, why: Left) {
        *self.left.entry(why).or_default() += 1;
    }

    /// The same with what another step has told of the same frames.
    pub(crate) fn with(mut self, other: Told) -> Self {
        for (why, count) in other.left {
            *self.left.entry(why).or_default() += count;
        }
        self.counted += other.counted;
        self
    }
}
