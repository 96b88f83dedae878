//! Role of a node for a flow.

/// Role of a node for a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// None: it begins and ends elsewhere, or the overlay does not carry it.
    None,
    /// Its datagrams enter here, at this flow of the proxy.
    UdpIn(usize),
    /// Its datagrams leave here; its index among the flows that reports cover, if any.
    UdpOut(Option<usize>),
    /// Its connection is terminated here, at this flow of the proxy.
    Tcp(usize),
}
