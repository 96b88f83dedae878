//! What the registry knows queue disciplines by. It lies with their trait, for it names what they
//! are built from and how.

use super::{Make, QueueFacts};
use crate::registry::Kind;

/// Queue disciplines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Queue {}

impl Kind for Queue {
    const NAME: &'static str = "queue";
    const PLURAL: &'static str = "queues";
    const TITLE: &'static str = "queue discipline";
    const EXAMPLE: &'static str = "fifo";
    type Facts = QueueFacts;
    type Make = Make;
}
