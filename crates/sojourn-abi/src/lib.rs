//! What comes from outside: a note of what it is doing, for whoever finds its process dead.

pub mod note;
