//! What the open kinds (congestion controls, queue disciplines, traffic models, ...) have in
//! common: one file and one registry line per member. From the line come the factory, the JSON
//! schema of its parameters, its documentation page (the file's own header) and its place in
//! `sojourn list` and in the conformance suite.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::FieldError;
pub use crate::{members, named};

/// Typed parameters of a member, every one with a default; unknown keys are refused
/// (`#[serde(default, deny_unknown_fields)]`).
pub trait Params: Serialize + DeserializeOwned + JsonSchema + Default {
    /// Resolves names within the parameters and fills in defaults that depend on other keys.
    ///
    /// # Errors
    /// As [`Params::validate`].
    fn resolve(&mut self, _catalogue: &Catalogue) -> Result<(), FieldError> {
        Ok(())
    }

    /// Checks what types cannot say. The error's field is relative to the parameters.
    ///
    /// # Errors
    /// Names the field, what was given and what is allowed.
    fn validate(&self) -> Result<(), FieldError> {
        Ok(())
    }
}

/// A member that has no parameters.
#[derive(Clone, Copy, Debug, Default, Serialize, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NoParams {}

impl Params for NoParams {}

/// What the catalogue knows about a member of an open kind.
#[derive(Clone, Copy, Debug)]
pub struct Listing {
    /// Canonical name: lower case, words joined as the scenario file writes them.
    pub name: &'static str,
    /// The member's source file; its `//!` header is its documentation page.
    pub source: &'static str,
    /// JSON schema of its parameters, with defaults and descriptions.
    pub schema: fn() -> Value,
    /// Reads and validates parameters; returns them with every default filled in.
    pub canonical: fn(&Map<String, Value>, &Catalogue) -> Result<Value, FieldError>,
}

impl Listing {
    /// The listing of a member with parameters `P`.
    pub const fn new<P: Params>(name: &'static str, source: &'static str) -> Self {
        Listing { name, source, schema: schema_of::<P>, canonical: canonical::<P> }
    }

    /// The file's header without its comment marks: Markdown, the first line a summary.
    pub fn documentation(&self) -> String {
        self.source
            .lines()
            .map_while(|line| line.strip_prefix("//!"))
            .map(|line| line.strip_prefix(' ').unwrap_or(line))
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// The first sentence of the documentation.
    pub fn summary(&self) -> String {
        let documentation = self.documentation();
        first_sentence(documentation.split("\n\n").next().unwrap_or_default())
    }

    /// What the member follows: the first sentence of the paragraph that begins with `Model:`;
    /// `None` for what is our own.
    pub fn model(&self) -> Option<String> {
        let documentation = self.documentation();
        let model = documentation.split("\n\n").find_map(|text| text.strip_prefix("Model: "))?;
        Some(first_sentence(model))
    }
}

/// The text up to the first full stop that does not follow an initial ("T. Kelly").
fn first_sentence(paragraph: &str) -> String {
    let text = paragraph.replace('\n', " ");
    let is_initial = |end: usize| {
        let word = text[..end].rsplit(' ').next().unwrap_or_default();
        word.len() == 1 && word.starts_with(char::is_uppercase)
    };
    match text.match_indices(". ").find(|(end, _)| !is_initial(*end)) {
        Some((end, _)) => text[..=end].to_owned(),
        None => text,
    }
}

/// Whether `written` is this `name`: hyphen and underscore are the same, case does not matter.
pub fn same_name(written: &str, name: &str) -> bool {
    written.len() == name.len()
        && written.bytes().zip(name.bytes()).all(|(a, b)| {
            let plain = |c: u8| if c == b'_' { b'-' } else { c.to_ascii_lowercase() };
            plain(a) == plain(b)
        })
}

/// Reads one of several names, and says which there are where something else stands.
pub struct Names<T> {
    kind: &'static str,
    names: &'static [&'static str],
    of: std::marker::PhantomData<T>,
}

impl<T> Names<T> {
    /// Of this kind.
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

/// An enumeration written as a name: hyphen and underscore are the same on input, the canonical
/// name is written, an unknown name is answered with the nearest. `| "other"` is read as well.
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

        impl<'de> $crate::registry::outside::serde::Deserialize<'de> for $type {
            fn deserialize<D>(deserializer: D) -> Result<Self, D::Error>
            where
                D: $crate::registry::outside::serde::Deserializer<'de>,
            {
                deserializer.deserialize_str($crate::registry::Names::new($kind, Self::NAMES))
            }
        }

        impl $crate::registry::outside::serde::Serialize for $type {
            fn serialize<S>(&self, serializer: S) -> Result<S::Ok, S::Error>
            where
                S: $crate::registry::outside::serde::Serializer,
            {
                serializer.serialize_str(self.name())
            }
        }

        impl $crate::registry::outside::schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(
                _: &mut $crate::registry::outside::schemars::SchemaGenerator,
            ) -> $crate::registry::outside::schemars::Schema {
                $crate::registry::outside::schemars::json_schema!({
                    "type": "string",
                    "enum": Self::NAMES
                })
            }
        }
    };
}

/// What [`named!`](crate::named) is made of, so that whoever calls it need not depend on it too.
#[doc(hidden)]
pub mod outside {
    pub use schemars;
    pub use serde;
}

/// An open kind: what its members are told apart by, and how one is built.
pub trait Kind: 'static {
    /// Its name in the schema, such as `cca`.
    const NAME: &'static str;
    /// Its name in the catalogue, such as `ccas`.
    const PLURAL: &'static str;
    /// What a message calls a member, such as `congestion control`.
    const TITLE: &'static str;
    /// A member, for messages.
    const EXAMPLE: &'static str;
    /// Whether canonical forms write a member without parameters as its name alone.
    const BY_NAME: bool = false;
    /// What else is known of a member.
    type Facts: Serialize + Send + Sync;
    /// How a member is built from its parameters.
    type Make: Copy + Send + Sync;
}

/// Of a kind whose members have nothing else to be known by.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct NoFacts {}

/// A member of an open kind.
pub struct Entry<K: Kind> {
    /// Name, documentation, parameters.
    pub listing: Listing,
    /// What else is known of it.
    pub facts: K::Facts,
    /// Builds one from its parameters.
    pub make: K::Make,
}

/// The members of every open kind. `catalogue::builtin` has Sojourn's own; a
/// program adds its own to that and reads scenarios with it.
#[derive(Default)]
pub struct Catalogue {
    /// For each kind a `Vec<Entry<K>>`.
    kinds: BTreeMap<TypeId, Box<dyn Any + Send + Sync>>,
}

impl Catalogue {
    /// No members of any kind.
    pub fn empty() -> Self {
        Catalogue::default()
    }

    /// Adds a member. One of the same name takes the place of the former.
    pub fn add<K: Kind>(&mut self, entry: Entry<K>) {
        let members = self.kinds.entry(TypeId::of::<K>());
        let members = members.or_insert_with(|| Box::new(Vec::<Entry<K>>::new()));
        if let Some(members) = members.downcast_mut::<Vec<Entry<K>>>() {
            members.retain(|known| known.listing.name != entry.listing.name);
            members.push(entry);
        }
    }

    /// Adds a member before the one of this name, or as the last one.
    #[must_use]
    pub fn before<K: Kind>(mut self, name: &str, entry: Entry<K>) -> Self {
        self.add(entry);
        let members = self.kinds.get_mut(&TypeId::of::<K>());
        if let Some(members) = members.and_then(|members| members.downcast_mut::<Vec<Entry<K>>>())
            && let Some(place) = members.iter().position(|member| member.listing.name == name)
        {
            members[place..].rotate_right(1);
        }
        self
    }

    /// Adds members.
    #[must_use]
    pub fn with<K: Kind>(mut self, entries: Vec<Entry<K>>) -> Self {
        entries.into_iter().for_each(|entry| self.add(entry));
        self
    }

    /// The members of a kind, in the order in which they were added.
    pub fn members<K: Kind>(&self) -> &[Entry<K>] {
        let members = self.kinds.get(&TypeId::of::<K>());
        members
            .and_then(|members| members.downcast_ref::<Vec<Entry<K>>>())
            .map_or(&[], Vec::as_slice)
    }

    /// The names of a kind's members.
    pub fn names<K: Kind>(&self) -> Vec<&'static str> {
        self.members::<K>().iter().map(|entry| entry.listing.name).collect()
    }

    /// The member called `written`.
    ///
    /// # Errors
    /// Lists the known names and suggests the nearest.
    pub fn find<K: Kind>(&self, written: &str) -> Result<&Entry<K>, FieldError> {
        let found = self.members::<K>().iter().find(|m| same_name(written, m.listing.name));
        found.ok_or_else(|| FieldError::unknown_name("", K::TITLE, written, &self.names::<K>()))
    }
}

/// Declares the modules of a kind's members, one line each, and `members()`, the entries that the
/// caller's `entry` makes of them; each module's source is its documentation.
#[macro_export]
macro_rules! members {
    (@source $module:ident) => {
        include_str!(concat!(stringify!($module), ".rs"))
    };
    (@source $module:ident folder) => {
        include_str!(concat!(stringify!($module), "/mod.rs"))
    };
    ($kind:ty; $($name:literal $module:ident :: $type:ident $($folder:ident)?),* $(,)?) => {
        $(pub mod $module;)*

        /// Sojourn's own members of this kind.
        pub fn members() -> Vec<$crate::registry::Entry<$kind>> {
            vec![$(entry::<$module::$type>(
                $name,
                $crate::members!(@source $module $($folder)?),
            )),*]
        }
    };
}

/// Reads parameters that `canonical` has already accepted, or that come from a program.
///
/// # Errors
/// As [`Params::validate`], or when a key or type is wrong.
pub fn parse_params<P: Params>(
    params: &Map<String, Value>,
    catalogue: &Catalogue,
) -> Result<P, FieldError> {
    let mut parsed: P = serde_path_to_error::deserialize(Value::Object(params.clone()))
        .map_err(|error| FieldError::from_serde(&error))?;
    parsed.resolve(catalogue)?;
    parsed.validate()?;
    Ok(parsed)
}

/// Everything inline, so that the schema can be embedded in a larger one.
fn schema_of<P: Params>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<P>().to_value()
}

fn canonical<P: Params>(
    params: &Map<String, Value>,
    catalogue: &Catalogue,
) -> Result<Value, FieldError> {
    let parsed: P = parse_params(params, catalogue)?;
    Ok(serde_json::to_value(parsed).expect("parameters serialise"))
}
