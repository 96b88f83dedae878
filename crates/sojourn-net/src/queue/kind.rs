//! Registry types of queue disciplines: constructor and facts.

use super::{Make, QueueFacts};
use crate::registry::Kind;
use crate::spec::Queue;

impl Kind for Queue {
    const NAME: &'static str = "queue";
    const PLURAL: &'static str = "queues";
    const TITLE: &'static str = "queue discipline";
    const EXAMPLE: &'static str = "fifo";
    const DEFAULT: Option<&'static str> = Some("fifo");
    type Facts = QueueFacts;
    type Make = Make;
}
