//! Names in scenario files: of members, and of the values of an enumeration.

/// Whether `written` is this `name`: hyphen and underscore are equal, case is ignored.
pub fn same_name(written: &str, name: &str) -> bool {
    written.len() == name.len()
        && written.bytes().zip(name.bytes()).all(|(a, b)| {
            let plain = |c: u8| if c == b'_' { b'-' } else { c.to_ascii_lowercase() };
            plain(a) == plain(b)
        })
}

/// Reads one of several names; an error lists them.
pub struct Names<T> {
    kind: &'static str,
    names: &'static [&'static str],
    of: std::marker::PhantomData<T>,
}

impl<T> Names<T> {
    /// A reader of `names`, which messages call `kind`.
    pub fn new(kind: &'static str, names: &'static [&'static str]) -> Self {
        Names { kind, names, of: std::marker::PhantomData }
    }
}

impl<T: std::str::FromStr<Err = String>> serde::de::Visitor<'_> for Names<T> {
    type Value = T;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a name ({}: {})", self.kind, self.names.join(", "))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

/// An enumeration written as a name: hyphen and underscore are equal on input, the canonical name
/// is written, an error suggests the nearest name. `| "other"` is an alias on input.
#[macro_export]
macro_rules! named {
    ($(#[$meta:meta])* $type:ident, $kind:literal { $($(#[$doc:meta])* $variant:ident = $name:literal $(| $alias:literal)?),* $(,)? }) => {
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
                $(if $crate::registry::same_name(text, $name) { return Ok($type::$variant); })*
                $($(if $crate::registry::same_name(text, $alias) { return Ok($type::$variant); })?)*
                Err($crate::error::FieldError::unknown_name("", $kind, text, Self::NAMES).message)
            }
        }

        impl<'de> $crate::registry::reexported::serde::Deserialize<'de> for $type {
            fn deserialize<D>(deserializer: D) -> Result<Self, D::Error>
            where
                D: $crate::registry::reexported::serde::Deserializer<'de>,
            {
                deserializer.deserialize_str($crate::registry::Names::new($kind, Self::NAMES))
            }
        }

        impl $crate::registry::reexported::serde::Serialize for $type {
            fn serialize<S>(&self, serializer: S) -> Result<S::Ok, S::Error>
            where
                S: $crate::registry::reexported::serde::Serializer,
            {
                serializer.serialize_str(self.name())
            }
        }

        impl $crate::registry::reexported::schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(
                _: &mut $crate::registry::reexported::schemars::SchemaGenerator,
            ) -> $crate::registry::reexported::schemars::Schema {
                $crate::registry::reexported::schemars::json_schema!({
                    "type": "string",
                    "enum": Self::NAMES
                })
            }
        }
    };
}

/// Dependencies of [`named!`](crate::named), so that its callers need not depend on them too.
#[doc(hidden)]
pub mod reexported {
    pub use schemars;
    pub use serde;
}
