//! Values passed through code that does not know their types to code that does.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A map with one value for each type. Copies share the values.
#[derive(Clone, Debug, Default)]
pub struct Given(BTreeMap<TypeId, Arc<dyn Any + Send + Sync>>);

impl Given {
    /// Adds a value; it replaces one of the same type.
    pub fn give<T: Any + Send + Sync>(&mut self, thing: Arc<T>) {
        self.0.insert(TypeId::of::<T>(), thing);
    }

    /// Adds all values of another map; they replace those of the same types.
    pub fn add(&mut self, other: &Given) {
        self.0.extend(other.0.iter().map(|(kind, thing)| (*kind, Arc::clone(thing))));
    }

    /// The value of a type, if there is one.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let thing = self.0.get(&TypeId::of::<T>())?;
        Arc::clone(thing).downcast::<T>().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_has_the_thing_that_was_given_last() {
        let mut given = Given::default();
        given.give(Arc::new(1_u8));
        given.give(Arc::new("one"));
        given.give(Arc::new(2_u8));
        assert_eq!(given.get::<u8>().as_deref(), Some(&2));
        assert_eq!(given.get::<&str>().as_deref(), Some(&"one"));
        assert_eq!(given.get::<u16>(), None);
        let (one, other) = (given.get::<u8>().unwrap(), given.clone().get::<u8>().unwrap());
        assert!(Arc::ptr_eq(&one, &other));
        let mut more = Given::default();
        more.give(Arc::new("other"));
        given.add(&more);
        assert_eq!((given.get().as_deref(), given.get().as_deref()), (Some(&2_u8), Some(&"other")));
    }
}
