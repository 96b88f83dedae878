//! Sizes of headers in bytes.

/// IPv4 without options.
pub const IP: u32 = 20;
/// UDP.
pub const UDP: u32 = 8;
/// TCP with the timestamp option.
pub const TCP: u32 = 32;
/// Ethernet, as the kernel counts it: without preamble, checksum and gap.
pub const ETHERNET: u32 = 14;
