//! Names that a scenario chooses from: endpoints' era, transport, direction, host queue.

use crate::registry::named;

named! {
    /// Whose endpoints, of which era.
    #[derive(Default)]
    Stack, "stack" {
        /// Linux 6.18.
        #[default]
        Linux6 = "linux-6",
        /// Linux 5.1, the kernel of the SCE draft's tests (2019).
        Linux51 = "linux-5.1",
        /// Linux 4.9, the kernel of Lin et al. (2020).
        Linux49 = "linux-4.9",
        /// ns-3 of 3.41.
        Ns3 = "ns3",
        /// The letter of the RFCs.
        Rfc = "rfc",
    }
}

named! {
    /// The transport protocol of a flow.
    #[derive(Default)]
    Transport, "transport" {
        /// Reliable, with congestion control.
        #[default]
        Tcp = "tcp",
        /// Datagrams sent as the traffic model writes them; no feedback.
        Udp = "udp",
    }
}

named! {
    /// Which way a flow's data travels through the topology.
    #[derive(Default)]
    FlowDirection, "direction" {
        /// Over the forward links.
        #[default]
        Forward = "forward",
        /// Over the reverse links.
        Reverse = "reverse",
    }
}

named! {
    /// The queue between a sender's transport and its network device.
    #[derive(Default)]
    HostQueue, "host queue" {
        /// No queue that paces: controls that ask for pacing are paced by the transport.
        #[default]
        None = "none",
        /// Linux `fq`: every control is paced.
        Fq = "fq",
    }
}
