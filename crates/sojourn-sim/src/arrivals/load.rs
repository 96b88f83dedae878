//! What entries offer to the network: rates from loads, and warnings of too much.

/// What an entry offers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offer {
    /// Arrivals per second while the entry is on: of sessions where there are any, else of transfers;
    /// NaN for a closed loop, whose users make it.
    pub rate: f64,
    /// Mean payload of a transfer in bytes.
    pub mean_size: f64,
    /// Index of the link to which loads refer, if all variants pass the same one.
    pub link: Option<u32>,
    /// Mean bytes on that link, framing included, per transfer.
    pub wire_bytes: f64,
}
