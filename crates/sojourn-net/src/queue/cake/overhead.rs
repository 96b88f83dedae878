//! What each packet takes on the wire besides its IP bytes: sizes, and the keywords of `tc-cake(8)`.
//!
//! Model: iproute2 `tc/q_cake.c` of 6.12, which turns keywords into a number of bytes, a framing and
//! a least size (`mpu`). Keywords add up, as there; `conservative` and `raw` begin anew. The kernel
//! does not count the link's own header then, and with `raw` it does.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::written::as_string;
use crate::error::FieldError;
use crate::quantity::Bytes;

/// Most bytes that an overhead may have, and least.
const ALLOWED: std::ops::RangeInclusive<i64> = -64..=256;

/// Link-layer framing, as the keywords of `tc-cake(8)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// None, unless keywords of `overhead` imply one.
    #[default]
    None,
    /// ATM cells: 53 bytes for each 48 or part of them.
    Atm,
    /// PTM of VDSL2: one byte for each 64 or part of them.
    Ptm,
}

/// What a keyword stands for.
#[derive(Debug, PartialEq, Eq)]
struct Keyword {
    name: &'static str,
    bytes: i32,
    framing: Option<Framing>,
    mpu: Option<u32>,
    /// Forgets the bytes of the keywords before.
    anew: bool,
    /// Bytes are added to the IP packet, not to what the link counts.
    replaces: bool,
}

const fn adds(name: &'static str, bytes: i32, framing: Option<Framing>) -> Keyword {
    Keyword { name, bytes, framing, mpu: None, anew: false, replaces: true }
}

const fn atm(name: &'static str, bytes: i32) -> Keyword {
    adds(name, bytes, Some(Framing::Atm))
}

static KEYWORDS: [Keyword; 16] = [
    Keyword { anew: true, replaces: false, ..adds("raw", 0, Some(Framing::None)) },
    // A whole cell and its framing: more than any link has.
    Keyword { anew: true, ..atm("conservative", 48) },
    atm("ipoa-vcmux", 8),
    atm("ipoa-llcsnap", 16),
    atm("bridged-vcmux", 24),
    atm("bridged-llcsnap", 32),
    atm("pppoa-vcmux", 10),
    atm("pppoa-llc", 14),
    atm("pppoe-vcmux", 32),
    atm("pppoe-llcsnap", 40),
    adds("pppoe-ptm", 30, Some(Framing::Ptm)),
    adds("bridged-ptm", 22, Some(Framing::Ptm)),
    // Preamble, gap and checksum, in frames of at least 64 bytes.
    Keyword { mpu: Some(84), ..adds("ethernet", 38, None) },
    adds("ether-vlan", 4, None),
    // Frames with their checksum.
    Keyword { mpu: Some(64), ..adds("docsis", 18, Some(Framing::None)) },
    // Kept by tc for old scripts.
    Keyword { replaces: false, ..adds("via-ethernet", 0, None) },
];

/// Bytes on top of each packet: a size, or keywords.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Overhead(Written);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Written {
    Size(i32),
    Keywords(Vec<&'static Keyword>),
}

/// What an overhead comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// Whether the link's own header is counted.
    pub raw: bool,
    /// Bytes on top.
    pub bytes: i32,
    /// Framing of the packet with them.
    pub framing: Framing,
    /// Least size of it.
    pub mpu: u32,
}

impl Told {
    /// Where nothing is said: what the link counts.
    pub(super) const NOTHING: Told = Told { raw: true, bytes: 0, framing: Framing::None, mpu: 0 };
}

impl Overhead {
    /// What it comes to.
    pub(super) fn told(&self) -> Told {
        let keywords = match &self.0 {
            Written::Size(bytes) => return Told { raw: false, bytes: *bytes, ..Told::NOTHING },
            Written::Keywords(keywords) => keywords,
        };
        let mut told = Told::NOTHING;
        for keyword in keywords {
            told.bytes = keyword.bytes + if keyword.anew { 0 } else { told.bytes };
            told.framing = keyword.framing.unwrap_or(told.framing);
            told.mpu = keyword.mpu.unwrap_or(told.mpu);
        }
        let counts = keywords.iter().any(|keyword| keyword.anew && !keyword.replaces);
        told.raw = counts || !keywords.iter().any(|keyword| keyword.replaces);
        told
    }
}

fn size(text: &str) -> Result<i64, String> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let Bytes(bytes) = digits.trim().parse()?;
    Ok(sign * i64::try_from(bytes).unwrap_or(i64::MAX))
}

impl FromStr for Overhead {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let written = if text.starts_with(|c: char| c.is_ascii_digit() || "-+.".contains(c)) {
            let bytes = size(text)?;
            Written::Size(i32::try_from(bytes).unwrap_or(i32::MAX))
        } else {
            let names: Vec<_> = KEYWORDS.iter().map(|keyword| keyword.name).collect();
            let keyword = |word: &str| {
                let unknown = || FieldError::unknown_name("", "overhead", word, &names).message;
                KEYWORDS.iter().find(|keyword| keyword.name == word).ok_or_else(unknown)
            };
            let keywords: Vec<_> =
                text.split_whitespace().map(keyword).collect::<Result<_, _>>()?;
            if keywords.is_empty() {
                return Err(format!("'': expected a size, or keywords: {}", names.join(", ")));
            }
            Written::Keywords(keywords)
        };
        let overhead = Overhead(written);
        match ALLOWED.contains(&i64::from(overhead.told().bytes)) {
            true => Ok(overhead),
            false => Err(format!("{text} is outside -64 B to 256 B")),
        }
    }
}

impl fmt::Display for Overhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Written::Size(bytes) => {
                f.write_str(if *bytes < 0 { "-" } else { "" })?;
                Bytes(bytes.unsigned_abs().into()).fmt(f)
            }
            Written::Keywords(keywords) => {
                let names: Vec<_> = keywords.iter().map(|keyword| keyword.name).collect();
                f.write_str(&names.join(" "))
            }
        }
    }
}

as_string!(Overhead);

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Told {
        let overhead: Overhead = text.parse().unwrap();
        assert_eq!(overhead.to_string().parse(), Ok(overhead.clone()), "canonical text reads back");
        overhead.told()
    }

    #[test]
    fn keywords_come_to_what_tc_makes_of_them() {
        use Framing::{Atm, None as Plain, Ptm};
        for (text, raw, bytes, framing, mpu) in [
            ("raw", true, 0, Plain, 0),
            ("via-ethernet", true, 0, Plain, 0),
            ("conservative", false, 48, Atm, 0),
            ("ipoa-vcmux", false, 8, Atm, 0),
            ("ipoa-llcsnap", false, 16, Atm, 0),
            ("bridged-vcmux", false, 24, Atm, 0),
            ("bridged-llcsnap", false, 32, Atm, 0),
            ("pppoa-vcmux", false, 10, Atm, 0),
            ("pppoa-llc", false, 14, Atm, 0),
            ("pppoe-vcmux", false, 32, Atm, 0),
            ("pppoe-llcsnap", false, 40, Atm, 0),
            ("pppoe-ptm", false, 30, Ptm, 0),
            ("bridged-ptm", false, 22, Ptm, 0),
            ("ethernet", false, 38, Plain, 84),
            ("docsis", false, 18, Plain, 64),
            ("ethernet ether-vlan ether-vlan", false, 46, Plain, 84),
            ("bridged-ptm ether-vlan", false, 26, Ptm, 0),
            ("ether-vlan conservative", false, 48, Atm, 0),
            ("44 B", false, 44, Plain, 0),
            ("-14 B", false, -14, Plain, 0),
        ] {
            assert_eq!(told(text), Told { raw, bytes, framing, mpu }, "{text}");
        }
    }

    #[test]
    fn what_tc_refuses_is_refused_with_the_remedy() {
        let why = |text: &str| text.parse::<Overhead>().unwrap_err();
        assert!(why("pppoe-pmt").contains("did you mean 'pppoe-ptm'?"));
        assert!(why("-65 B").contains("outside -64 B to 256 B"));
        assert!(why("1 MB").contains("outside -64 B to 256 B"));
        assert!(why("44").contains("unit is missing"));
        assert!(why("").contains("conservative"));
        assert!(why(&"ethernet ".repeat(7)).contains("outside"));
    }
}
