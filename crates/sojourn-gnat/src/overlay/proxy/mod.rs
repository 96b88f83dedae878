//! Proxies: where flows come in they wait for admission, where they go out it is noted what is missing.

mod receipts;
mod tcp;
mod udp;

pub(super) use receipts::SIZE as REPORT_SIZE;
pub(super) use receipts::{Receipts, Report};
pub(super) use tcp::{Output, TcpProxy};
pub(super) use udp::UdpProxy;
