//! What transports of several kinds share: estimators and algorithms that know no header.
//!
//! Segments are numbered in the order in which they are first sent; what an algorithm must know of
//! one is handed to it, or asked for through a small trait.
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
