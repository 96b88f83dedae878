//! Proxies: packets wait for admission where flows enter the overlay, and missing ones are counted
//! where flows leave it.

mod receipts;
mod tcp;
mod udp;

pub(super) use receipts::SIZE as REPORT_SIZE;
pub(super) use receipts::{Receipts, Report};
pub(super) use tcp::{BETWEEN, Gate, MSS, Output, TcpProxy, duplex};
pub(super) use udp::{FlowCounts, UdpProxy};
