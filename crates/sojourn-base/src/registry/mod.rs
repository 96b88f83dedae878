//! The registry of open kinds (congestion controls, queue disciplines, traffic models, ...): one
//! file and one registry line per member. The factory, the JSON schema of its parameters, its
//! documentation page (the file's own header) and its place in `sojourn list` and in the
//! conformance suite follow from the line.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::FieldError;
use crate::reading;
pub use crate::{members, named};

mod listing;
mod names;

pub use listing::Listing;
pub use names::{Names, reexported, same_name};

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

    /// Checks what types cannot express. The error's field is relative to the parameters.
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

/// An open kind: its names, the facts of its members, and how one is built.
pub trait Kind: 'static {
    /// Name in the schema, such as `cca`.
    const NAME: &'static str;
    /// Name in the catalogue, such as `ccas`.
    const PLURAL: &'static str;
    /// Name of a member in messages, such as `congestion control`.
    const TITLE: &'static str;
    /// Example of a member, for messages.
    const EXAMPLE: &'static str;
    /// The member that a table without `kind` is of, if there is one.
    const DEFAULT: Option<&'static str> = None;
    /// Whether canonical forms write a member without parameters as its name alone.
    const BY_NAME: bool = false;
    /// Facts about a member besides its listing.
    type Facts: Serialize + Send + Sync;
    /// Function that builds a member from its parameters.
    type Make: Copy + Send + Sync;
}

/// Facts of a kind whose members have none.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct NoFacts {}

/// A member of an open kind.
pub struct Entry<K: Kind> {
    /// Name, documentation, parameters.
    pub listing: Listing,
    /// Facts besides the listing.
    pub facts: K::Facts,
    /// Builds a member from its parameters.
    pub make: K::Make,
}

/// The members of every open kind. `catalogue::builtin` has Sojourn's own; a program adds its own
/// members and reads scenarios with the result.
#[derive(Default)]
pub struct Catalogue {
    /// A `Vec<Entry<K>>` for each kind.
    kinds: BTreeMap<TypeId, Box<dyn Any + Send + Sync>>,
}

impl Catalogue {
    /// A catalogue without members.
    pub fn empty() -> Self {
        Catalogue::default()
    }

    /// Adds a member; it replaces one of the same name.
    pub fn add<K: Kind>(&mut self, entry: Entry<K>) {
        let members = self.kinds.entry(TypeId::of::<K>());
        let members = members.or_insert_with(|| Box::new(Vec::<Entry<K>>::new()));
        if let Some(members) = members.downcast_mut::<Vec<Entry<K>>>() {
            members.retain(|known| known.listing.name != entry.listing.name);
            members.push(entry);
        }
    }

    /// Adds a member before the one of this name, or at the end.
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
        let members = self.members::<K>().iter();
        // Mostly the name is written as it is listed.
        let found = members.clone().find(|member| member.listing.name == written);
        let found = found.or_else(|| members.clone().find(|m| same_name(written, m.listing.name)));
        found.ok_or_else(|| FieldError::unknown_name("", K::TITLE, written, &self.names::<K>()))
    }
}

/// Declares the modules of a kind's members, one line each, and `members()`, whose entries the
/// caller's `entry` makes; each module's source is its documentation.
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
    let mut parsed: P = reading::read_keys(params)?;
    parsed.resolve(catalogue)?;
    parsed.validate()?;
    Ok(parsed)
}
