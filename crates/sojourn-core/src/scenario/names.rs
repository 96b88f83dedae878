//! Names that a scenario chooses from: endpoints' era, transport, direction, host queue.

use crate::registry::same_name;

/// An enumeration written as a name: hyphen and underscore are the same on input, the canonical
/// name is written, an unknown name is answered with the nearest.
macro_rules! named {
    ($(#[$meta:meta])* $type:ident, $kind:literal { $($(#[$doc:meta])* $variant:ident = $name:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type { $($(#[$doc])* $variant),* }

        impl $type {
            /// Every name, in the order of the documentation.
            pub const NAMES: &'static [&'static str] = &[$($name),*];

            /// The canonical name.
            pub const fn name(self) -> &'static str {
                match self { $($type::$variant => $name),* }
            }
        }

        impl std::str::FromStr for $type {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                $(if same_name(text, $name) { return Ok($type::$variant); })*
                Err(crate::error::FieldError::unknown_name("", $kind, text, Self::NAMES).message)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "enum": Self::NAMES })
            }
        }
    };
}

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
