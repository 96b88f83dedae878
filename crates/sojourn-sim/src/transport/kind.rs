//! Registry types of transports: constructor and facts.

use super::{Make, TransportFacts};
use crate::registry::Kind;
use crate::spec::Transport;

impl Kind for Transport {
    const NAME: &'static str = "transport";
    const PLURAL: &'static str = "transports";
    const TITLE: &'static str = "transport";
    const EXAMPLE: &'static str = "tcp";
    const BY_NAME: bool = true;
    type Facts = TransportFacts;
    type Make = Make;
}
