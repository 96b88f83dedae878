//! A router or a host: packets go on along their routes, or to their sockets where these end.
//!
//! The kind of every node that is given no other. It holds no packets and takes no time: queues
//! belong to links.

use super::{Behaviour, NodeInit, Registered};
use crate::registry::NoParams;

/// Follows routes.
#[derive(Debug)]
pub struct Router;

impl Registered for Router {
    type Params = NoParams;

    fn behaviour(_params: NoParams, _init: &NodeInit) -> Behaviour {
        Behaviour::Plain
    }
}
