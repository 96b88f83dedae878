//! Ranges of IPv4 addresses.

use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;

use sojourn_base::error::FieldError;

/// A range of IPv4 addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// The first address.
    pub address: Ipv4Addr,
    /// Leading bits that all have.
    pub bits: u8,
}

impl Prefix {
    fn mask(self) -> u32 {
        u32::MAX.checked_shl(32 - u32::from(self.bits)).unwrap_or(0)
    }

    /// Whether an address is in it.
    pub fn has(self, address: Ipv4Addr) -> bool {
        address.to_bits() & self.mask() == self.address.to_bits()
    }

    /// Its first address for a host.
    pub fn first(self) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.address.to_bits() + u32::from(self.bits < 31))
    }

    /// Whether an address is in both.
    pub(super) fn meets(self, other: Prefix) -> bool {
        self.has(other.address) || other.has(self.address)
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

impl FromStr for Prefix {
    type Err = FieldError;

    fn from_str(text: &str) -> Result<Self, FieldError> {
        let parsed = text.split_once('/').and_then(|(address, bits)| {
            let bits = bits.parse().ok().filter(|bits| (1..=32).contains(bits))?;
            Some(Prefix { address: address.parse().ok()?, bits })
        });
        let usual = |prefix: &Prefix| {
            let first = prefix.address;
            !first.is_unspecified()
                && !first.is_loopback()
                && !first.is_multicast()
                && !first.is_link_local()
                && prefix.has(first)
        };
        parsed.filter(usual).ok_or_else(|| {
            let message = format!(
                "{text:?} given; allowed: the first of a range of IPv4 addresses and its bits, such as \
                 \"10.9.1.0/24\""
            );
            FieldError::new("prefix", message)
        })
    }
}
