//! Flows and their numbers from packets: from those that pass a live network ([`observed`]), and from
//! captures of the real world ([`Survey`]).
//!
//! | part | file |
//! | --- | --- |
//! | frames of a pcap or pcapng file | `reader` |
//! | IP packets in frames; their headers | `link`, `ip`, [`wire`] |
//! | connections, and who opened them | `connections` |
//! | a flow's counters from its packets | [`observed`] |
//! | the flows of a capture, measured packet by packet | `flow`, `measuring` |
//! | its packets as rows | `passages` |
//! | a capture as the columns of a run | `import` |
//!
//! Times are integer nanoseconds since the run or the capture began, sizes bytes of IP packets. Nothing
//! here opens a file: captures come through [`std::io::Read`].
//!
//! ```
//! use sojourn_base::Span;
//! use sojourn_capture::Survey;
//!
//! let refused = Survey::of(&b"not a capture"[..]).unwrap_err();
//! assert!(refused.to_string().starts_with("is no capture"));
//! # fn read(file: std::fs::File, again: std::fs::File) -> Result<(), sojourn_capture::Refusal> {
//! let imported = Survey::of(file)?.measure(again, Span::from_millis(100), None)?;
//! println!("{:?}", imported.outcome.flow_samples.reals("delivered_bytes"));
//! # Ok(())
//! # }
//! ```
// A test may compute expected values in any way.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod connections;
mod file;
mod flow;
mod import;
mod ip;
mod left;
mod link;
mod measuring;
pub mod observed;
mod packets;
mod passages;
mod reader;
pub mod wire;

pub use file::Frame;
pub use flow::Flow;
pub use import::{Imported, Survey};
pub use left::{Left, Told};
pub use reader::{Damage, Frames, Refusal};
