//! Cake's three rotations of queues as doubly linked lists over queue numbers.

/// Rotation of queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    /// Queues that were empty and received a packet: served first.
    New,
    /// Queues that used up a quantum.
    Old,
    /// Empty queues whose COBALT state is still decaying.
    Decaying,
}

const LISTS: usize = 3;

#[derive(Clone, Copy, Debug)]
struct Link {
    previous: u16,
    next: u16,
}

/// The rotations of a fixed number of queues; each queue is in one of them or in none.
#[derive(Debug)]
pub(super) struct Rotation {
    /// One entry per queue, then one per list with its two ends.
    links: Box<[Link]>,
    queues: u16,
}

impl Rotation {
    /// A rotation with all queues in no list. `queues` is at most 1024.
    pub(super) fn new(queues: u16) -> Self {
        let links = (0..queues + LISTS as u16).map(|i| Link { previous: i, next: i }).collect();
        Rotation { links, queues }
    }

    /// The first queue of `list`.
    #[inline]
    pub(super) fn first(&self, list: List) -> Option<u16> {
        let ends = self.queues + list as u16;
        let first = self.links[usize::from(ends)].next;
        (first != ends).then_some(first)
    }

    /// The queues of `list`, in order.
    pub(super) fn queues(&self, list: List) -> impl Iterator<Item = u16> {
        let ends = self.queues + list as u16;
        let next = move |queue: &u16| {
            let next = self.links[usize::from(*queue)].next;
            (next != ends).then_some(next)
        };
        std::iter::successors(next(&ends), next)
    }

    /// Takes `queue` out of the list it is in, if any.
    #[inline]
    pub(super) fn remove(&mut self, queue: u16) {
        let Link { previous, next } = self.links[usize::from(queue)];
        self.links[usize::from(previous)].next = next;
        self.links[usize::from(next)].previous = previous;
        self.links[usize::from(queue)] = Link { previous: queue, next: queue };
    }

    /// Moves `queue` to the end of `list`.
    #[inline]
    pub(super) fn move_to_tail(&mut self, queue: u16, list: List) {
        self.remove(queue);
        let ends = self.queues + list as u16;
        let last = self.links[usize::from(ends)].previous;
        self.links[usize::from(queue)] = Link { previous: last, next: ends };
        self.links[usize::from(last)].next = queue;
        self.links[usize::from(ends)].previous = queue;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_move_between_lists_in_order() {
        let mut rotation = Rotation::new(4);
        assert_eq!(rotation.first(List::New), None);
        for queue in [2, 0, 3] {
            rotation.move_to_tail(queue, List::New);
        }
        rotation.move_to_tail(0, List::Old);
        rotation.move_to_tail(2, List::New);
        assert_eq!(rotation.first(List::New), Some(3));
        rotation.remove(3);
        assert_eq!(rotation.first(List::New), Some(2));
        assert_eq!(rotation.first(List::Old), Some(0));
        rotation.remove(2);
        rotation.remove(2);
        assert_eq!((rotation.first(List::New), rotation.first(List::Decaying)), (None, None));
    }
}
