//! Enumerations of scenarios: endpoints' stack, ECN feedback, direction, host queue and others.

use crate::registry::named;

named! {
    /// The stack and version of the endpoints: their TCP and, unless a control is given a `version`
    /// of its own, their congestion control.
    #[derive(Default)]
    Stack, "stack" {
        /// Linux 6.18.
        #[default]
        Linux6 = "linux-6" | "linux",
        /// Linux 5.1, the kernel of the SCE draft's tests (2019).
        Linux51 = "linux-5.1",
        /// Linux 4.9, the kernel of Lin et al. (2020).
        Linux49 = "linux-4.9",
        /// ns-3 3.41.
        Ns3 = "ns3",
        /// The RFCs, to the letter.
        Rfc = "rfc",
    }
}

named! {
    /// ECN feedback of endpoints.
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
        /// DCTCP's feedback, from a receiver that echoes SCE as well.
        DctcpSce = "dctcp-sce",
        /// Some Congestion Experienced: ECT(1) is a second signal, echoed by ESCE; CE as classic.
        Sce = "sce",
        /// L4S (RFC 9331): ECT(1) as identifier, with accurate feedback.
        L4s = "l4s",
    }
}

named! {
    /// Direction in which a flow's data passes the topology.
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
        /// No queue that paces: the transport paces controls that ask for pacing.
        #[default]
        None = "none",
        /// Linux `fq`: every control is paced.
        Fq = "fq",
    }
}

named! {
    /// Priority of a flow's packets in the contention for a shared medium, lowest first (802.11's
    /// access categories).
    #[derive(Default)]
    AccessCategory, "access category" {
        /// Below best effort.
        Background = "background",
        /// Best effort.
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
        /// As the stack does.
        Stack = "stack",
        /// The slow-start threshold as well, whatever the stack does.
        All = "all",
    }
}

named! {
    /// Kinds of events that are recorded.
    Recorded, "record" {
        /// The state of congestion controls.
        Cc = "cc",
        /// State of queue disciplines and of nodes that have any.
        Queue = "queue",
        /// Passage of each packet through the recorded links.
        Packets = "packets",
        /// The packets themselves, with their headers, as a capture that other programs read.
        Pcap = "pcap",
        /// What each flow's sender sends, receives and decides, as events that other programs show.
        Qlog = "qlog",
    }
}

named! {
    /// Versions of qlog.
    #[derive(Default)]
    QlogVersion, "version of qlog" {
        /// That of draft-ietf-quic-qlog-main-schema-14.
        #[default]
        Draft14 = "draft-14",
        /// An older one, which qvis reads.
        V03 = "0.3",
    }
}
