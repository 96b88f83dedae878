//! Estimators and algorithms that several transports share; they know no packet header.
//!
//! Segments are numbered in the order in which they are first sent; an algorithm gets what it needs
//! of a segment as an argument, or through a small trait.
//!
//! | part | file |
//! | --- | --- |
//! | RTT, retransmission timeout | `rtt` |
//! | delivery rate | `rate` |
//! | pacing and bursts | `pacing` |
//! | window reduction | `prr` |
//! | loss detection by time | `rack` |

pub mod pacing;
pub mod prr;
pub mod rack;
pub mod rate;
pub mod rtt;
