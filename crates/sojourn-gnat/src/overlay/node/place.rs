//! Role of a node for a flow.

/// Role of a node for a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Nothing: it begins and ends elsewhere, or is not the overlay's.
    None,
    /// Its datagrams come in here, to this flow of the proxy.
    UdpIn(usize),
    /// Its datagrams go out here; which of the flows is it that are reported of, if any.
    UdpOut(Option<usize>),
    /// Its connection is ended here, at this flow of the proxy.
    Tcp(usize),
}
