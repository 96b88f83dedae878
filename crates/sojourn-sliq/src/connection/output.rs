//! Choice of the next datagram.

use super::acks::COUNT_EVERY;
use super::handshake::State;
use super::{Blocked, Connection};
use crate::payload::Payload;
use crate::stream::Attempt;
use crate::wire::{Datagram, Message, Sync, Train};
use sojourn_base::units::Time;

const SYNC_SIZE: usize = 8;

impl<P: Payload> Connection<P> {
    /// Puts the next datagram to send now into `place`, whatever is there; whether there is one. Called
    /// until there is none after every `on_datagram`, `on_timeout` and `write`.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time, place: &mut Datagram<P>) -> bool {
        !self.is_idle(now) && self.fill(now, place)
    }

    /// Whether there is nothing to send, whatever controls permit, which is so after every second
    /// datagram.
    #[inline]
    fn is_idle(&self, now: Time) -> bool {
        self.outbox.is_empty()
            && self.acks.due == 0
            && self.received_since < 2 * COUNT_EVERY
            && !(self.trains || self.syncs)
            && (self.overview.new | self.overview.again == 0 || now < self.blocked.until)
    }

    #[inline(never)]
    fn fill(&mut self, now: Time, place: &mut Datagram<P>) -> bool {
        if !self.outbox.is_empty() {
            return self.put_posted(place);
        }
        if self.state != State::Connected {
            return false;
        }
        if let Some(train) = self.poll_train(now) {
            *place = Datagram::Train(train);
            return true;
        }
        match place {
            Datagram::Message(message) => message.clear(),
            _ => *place = Datagram::default(),
        }
        let Datagram::Message(message) = place else { return false };
        self.put_due_ack(now, message) || self.put_data(now, message) || self.put_rest(now, message)
    }

    #[cold]
    fn put_posted(&mut self, place: &mut Datagram<P>) -> bool {
        self.outbox.pop_front().map(|datagram| *place = datagram).is_some()
    }

    fn poll_train(&mut self, now: Time) -> Option<Train> {
        if !self.trains {
            return None;
        }
        let lanes = self.shared.lanes.iter_mut().enumerate();
        let probe = lanes
            .filter_map(|(index, lane)| Some((index as u8, lane.control.poll_train(now)?)))
            .next();
        self.trains = probe.is_some();
        let (control, probe) = probe?;
        Some(Train {
            control,
            kind: probe.kind,
            seq: probe.seq,
            gap: probe.gap,
            stamp: self.shared.clock.stamp(now),
            delta: self.shared.delta,
            padding: probe.padding,
        })
    }

    fn poll_sync(&mut self, now: Time) -> Option<Sync> {
        if !self.syncs {
            return None;
        }
        let lanes = self.shared.lanes.iter_mut().enumerate();
        let sync = lanes
            .filter_map(|(index, lane)| {
                let (seq, value) = lane.control.poll_sync(now)?;
                Some(Sync { control: index as u8, seq, value })
            })
            .next();
        self.syncs = sync.is_some();
        sync
    }

    /// A data packet with what else fits; whether there is one. Retransmissions of all streams go
    /// first, then new data; higher priorities first.
    fn put_data(&mut self, now: Time, message: &mut Message<P>) -> bool {
        if self.outage.is_some() || now < self.blocked.until {
            return false;
        }
        for again in [true, false] {
            let overview = &self.overview;
            let ready = overview.open & if again { overview.again } else { overview.new };
            if ready == 0 {
                continue;
            }
            for priority in 0..self.overview.bands.len() {
                if self.overview.bands[priority] & ready == 0 {
                    continue;
                }
                match self.poll_band(now, priority, ready, again, message) {
                    Attempt::Sent => {
                        self.add_companions(now, message);
                        return true;
                    }
                    Attempt::Blocked => {
                        self.note_blocked(now);
                        return false;
                    }
                    Attempt::Nothing => {}
                }
            }
        }
        false
    }

    fn note_blocked(&mut self, now: Time) {
        let again = self.overview.again & self.overview.open != 0;
        let until = self.shared.held_until(now);
        self.blocked = Blocked { until, next: self.shared.next_send(now, again) };
    }

    /// Streams of one priority, in turn; those that are `ready`.
    fn poll_band(
        &mut self,
        now: Time,
        priority: usize,
        ready: u32,
        again: bool,
        message: &mut Message<P>,
    ) -> Attempt {
        let band = self.overview.bands[priority];
        let (start, size) = (band.trailing_zeros() as usize, band.count_ones() as u8);
        for step in 0..size {
            let turn = self.turns[priority] + step;
            let turn = if turn < size { turn } else { turn - size };
            let at = start + usize::from(turn);
            if ready >> at & 1 == 0 {
                continue;
            }
            let place = &mut message.data;
            let attempt = self.with_sender(at, |sender, shared| match again {
                true => sender.try_resend(now, shared, place),
                false => sender.try_new(now, shared, place),
            });
            match attempt {
                Attempt::Nothing => {}
                Attempt::Blocked => return attempt,
                Attempt::Sent => {
                    self.turns[priority] = if turn + 1 < size { turn + 1 } else { 0 };
                    self.timers.control = None;
                    self.note_data_sent(now);
                    self.arm_rto(now);
                    return attempt;
                }
            }
        }
        Attempt::Nothing
    }

    /// Adds the headers that fit into a datagram besides its data packet.
    fn add_companions(&mut self, now: Time, message: &mut Message<P>) {
        let size = message.data.as_ref().map_or(0, |(data, payload)| data.size() + payload.len());
        if size + SYNC_SIZE <= self.largest {
            message.sync = self.poll_sync(now);
        }
        self.piggyback_ack(now, size + message.overhead(), message);
        self.put_counts(now, size, message);
    }

    /// Adds headers that cannot wait for data any longer; returns whether there are any.
    fn put_rest(&mut self, now: Time, message: &mut Message<P>) -> bool {
        message.sync = self.poll_sync(now);
        if self.received_since >= 2 * COUNT_EVERY {
            message.count = Some(self.take_count());
        }
        message.sync.is_some() || message.count.is_some()
    }
}
