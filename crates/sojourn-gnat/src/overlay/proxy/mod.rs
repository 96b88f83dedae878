//! Proxies: where flows come in they wait for admission, where they go out it is noted what is missing.

mod receipts;
mod tcp;
mod udp;

pub use receipts::{Receipts, Report, SIZE as REPORT_SIZE};
pub use tcp::{Output, TcpProxy};
pub use udp::UdpProxy;
