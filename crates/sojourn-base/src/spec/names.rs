//! Names that a scenario chooses from: endpoints' era, ECN feedback, direction, host queue.

use crate::registry::named;

named! {
    /// Whose endpoints, of which era: their TCP and, unless a control is given a `version` of its
    /// own, their congestion control.
    #[derive(Default)]
    Stack, "stack" {
        /// Linux 6.18.
        #[default]
        Linux6 = "linux-6" | "linux",
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
    /// ECN feedback that endpoints can be asked to use.
    #[derive(Default)]
    EcnMode, "ECN feedback" {
        /// Not ECN-capable.
        #[default]
        Off = "off",
        /// RFC 3168: one reduction per round, ECE until CWR.
        Classic = "classic",
        /// AccECN (RFC 9768): the receiver counts CE marks.
        Accurate = "accurate",
        /// DCTCP (RFC 8257): ECE mirrors CE.
        Dctcp = "dctcp",
        /// DCTCP's, from a receiver that echoes SCE as well.
        DctcpSce = "dctcp-sce",
        /// Some Congestion Experienced: ECT(1) is a second signal, echoed by ESCE; CE as classic.
        Sce = "sce",
        /// L4S (RFC 9331): ECT(1) as identifier, with accurate feedback.
        L4s = "l4s",
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

named! {
    /// How urgently a flow's packets contend for a shared medium, lowest first (802.11's access
    /// categories).
    #[derive(Default)]
    AccessCategory, "access category" {
        /// Less than the usual.
        Background = "background",
        /// The usual.
        #[default]
        BestEffort = "best-effort",
        /// Video.
        Video = "video",
        /// Voice.
        Voice = "voice",
    }
}

named! {
    /// What hosts remember of their earlier TCP connections.
    #[derive(Default)]
    TcpMetrics, "TCP metrics" {
        /// Nothing.
        #[default]
        Off = "off",
        /// What the stack does.
        Stack = "stack",
        /// The slow-start threshold as well, whatever the stack does.
        All = "all",
    }
}

named! {
    /// What is recorded whenever it happens.
    Recorded, "record" {
        /// The state of congestion controls.
        Cc = "cc",
        /// The state of queue disciplines and of nodes that have any.
        Queue = "queue",
        /// Each packet's way through the recorded links.
        Packets = "packets",
    }
}
