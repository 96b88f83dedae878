//! Depths of a neighbour's queues, as it last reported them.

use std::sync::Arc;

use crate::overlay::message::{Depths, is_later};

/// The depths reported last.
#[derive(Debug)]
pub(super) struct Heard {
    /// Number of that message.
    number: Option<u32>,
    members: Vec<[f64; 2]>,
    groups: Arc<Vec<Vec<f64>>>,
}

impl Heard {
    /// State before the first message, for `members` members.
    pub(super) fn new(members: usize) -> Self {
        Heard { number: None, members: vec![[0.0; 2]; members], groups: Arc::default() }
    }

    /// Processes a message; older ones are ignored.
    pub(super) fn hear(&mut self, depths: &Depths) {
        if self.number.is_none_or(|heard| is_later(depths.number, heard)) {
            self.number = Some(depths.number);
            self.members.clone_from(&depths.bytes);
            self.groups.clone_from(&depths.groups);
        }
    }

    /// Depths of its queue for a member.
    pub(super) fn depths(&self, to: usize) -> [f64; 2] {
        self.members.get(to).copied().unwrap_or_default()
    }

    /// Depth of its queue for a member in a group.
    pub(super) fn group_depth(&self, group: usize, to: usize) -> f64 {
        self.groups.get(group).and_then(|depths| depths.get(to)).copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_was_overtaken_counts_for_nothing() {
        let mut heard = Heard::new(1);
        for (number, depth) in [(2, 20.0), (1, 10.0)] {
            let groups = Arc::new(vec![vec![depth]]);
            heard.hear(&Depths::new(number, vec![[depth, 0.0]], groups));
        }
        assert_eq!((heard.depths(0)[0], heard.group_depth(0, 0)), (20.0, 20.0));
        assert_eq!(heard.group_depth(1, 0), 0.0, "a group that it does not know");
    }

    #[test]
    fn numbers_go_on_after_the_largest() {
        let mut heard = Heard::new(1);
        for (number, depth) in [(u32::MAX, 10.0), (0, 20.0), (u32::MAX - 1, 30.0)] {
            heard.hear(&Depths::new(number, vec![[depth, 0.0]], Arc::default()));
        }
        assert_eq!(heard.depths(0)[0], 20.0);
    }

    #[test]
    fn queues_that_a_message_leaves_out_are_empty() {
        let mut heard = Heard::new(2);
        heard.hear(&Depths::new(1, vec![[10.0, 0.0]], Arc::new(vec![vec![5.0]])));
        assert_eq!((heard.depths(1), heard.group_depth(0, 1)), ([0.0; 2], 0.0));
    }
}
