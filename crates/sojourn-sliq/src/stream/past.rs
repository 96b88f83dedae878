//! Records of finished packets, which late ACKs and counts may still name.

use std::collections::VecDeque;

use crate::clock::Moment;

/// Number of records kept.
const MOST: usize = 1_024;

/// Record of a finished packet. It is small, as each stream keeps many.
#[derive(Clone, Copy, Debug)]
pub(super) struct Past {
    /// The control that owned it.
    pub lane: u8,
    /// Its number there.
    pub number: u64,
    /// Bytes of payload.
    pub bytes: u32,
    /// The window that the control noted.
    pub window: f32,
    /// Number of its retransmissions.
    pub resent: u8,
    /// Data packets of the connection sent up to its last sending, and the one before.
    pub counts: [u32; 2],
}

/// Group of a packet, its number there, and when it was sent last.
pub(super) type Member = (u64, u8, Moment);

/// The latest of them.
#[derive(Debug, Default)]
pub(super) struct Pasts {
    all: VecDeque<Past>,
    /// The groups that they were in, on an adaptive stream.
    members: VecDeque<Option<Member>>,
}

fn remember<T>(past: &mut VecDeque<T>, latest: T) {
    if past.len() == MOST {
        past.pop_front();
    }
    past.push_back(latest);
}

fn get<T: Copy>(past: &VecDeque<T>, back: u64) -> Option<T> {
    past.get(past.len().checked_sub(back as usize)?).copied()
}

impl Pasts {
    /// Another one; `member` is given on an adaptive stream, even where it was in no group.
    pub(super) fn push(&mut self, past: Past, member: Option<Option<Member>>) {
        remember(&mut self.all, past);
        if let Some(member) = member {
            remember(&mut self.members, member);
        }
    }

    /// The latest for 1, the one before for 2 and so on.
    pub(super) fn get(&self, back: u64) -> Option<Past> {
        get(&self.all, back)
    }

    /// The same packet's place in a group, if it had one.
    pub(super) fn member(&self, back: u64) -> Option<Member> {
        get(&self.members, back).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_known_and_older_ones_are_not() {
        let mut pasts = Pasts::default();
        for number in 0..3_000 {
            let past = Past { lane: 0, number, bytes: 0, window: 0.0, resent: 0, counts: [0; 2] };
            let sent = Moment { stamp: number as u32, count: 0 };
            pasts.push(past, Some((number % 2 == 0).then_some((number, 0, sent))));
        }
        assert_eq!(pasts.get(1).map(|past| past.number), Some(2_999));
        assert_eq!(pasts.get(1_024).map(|past| past.number), Some(1_976));
        assert_eq!(pasts.member(1_024).map(|(group, ..)| group), Some(1_976));
        assert!(pasts.member(1).is_none(), "in no group");
        assert!(pasts.get(1_025).is_none() && pasts.member(1_025).is_none());
    }
}
