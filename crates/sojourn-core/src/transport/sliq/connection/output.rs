//! What goes out next.

use super::Connection;
use super::acks::COUNT_EVERY;
use super::handshake::State;
use crate::transport::sliq::payload::Payload;
use crate::transport::sliq::stream::{Attempt, Sender};
use crate::transport::sliq::wire::{Datagram, MAX_DATAGRAM, Message, Sync, Train};
use crate::units::Time;

const SYNC_SIZE: usize = 8;

impl<P: Payload> Connection<P> {
    /// Puts the next datagram to send now into `place`, whatever is there; whether there is one. Called
    /// until there is none after every `on_datagram`, `on_timeout` and `write`.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time, place: &mut Datagram<P>) -> bool {
        !self.is_idle() && self.fill(now, place)
    }

    /// Whether there is nothing to send, whatever controls say: so it is after every second datagram.
    #[inline]
    fn is_idle(&self) -> bool {
        let waits = |sender: &Sender<P>| sender.has_new() || sender.has_resend();
        self.outbox.is_empty()
            && self.acks.due == 0
            && self.received_since < 2 * COUNT_EVERY
            && !(self.trains || self.syncs)
            && !self.streams.iter().any(|stream| waits(&stream.sender))
    }

    #[inline(never)]
    fn fill(&mut self, now: Time, place: &mut Datagram<P>) -> bool {
        if let Some(datagram) = self.outbox.pop_front() {
            *place = datagram;
            return true;
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
        if self.outage.is_some() {
            return false;
        }
        let resends = self.streams.iter().any(|stream| stream.sender.has_resend());
        for again in [true, false] {
            if again && !resends {
                continue;
            }
            let mut start = 0;
            while let Some(priority) = self.streams.get(start).map(|s| s.config.priority) {
                let band = &self.streams[start..];
                let size = band.iter().take_while(|s| s.config.priority == priority).count();
                match self.poll_band(now, start, size, again, message) {
                    Attempt::Sent => {
                        self.add_companions(now, message);
                        return true;
                    }
                    Attempt::Blocked => return false,
                    Attempt::Nothing => start += size,
                }
            }
        }
        false
    }

    /// Streams of one priority, in turn.
    fn poll_band(
        &mut self,
        now: Time,
        start: usize,
        size: usize,
        again: bool,
        message: &mut Message<P>,
    ) -> Attempt {
        let priority = usize::from(self.streams[start].config.priority);
        for step in 0..size {
            let turn = self.turns[priority] + step;
            let turn = if turn < size { turn } else { turn - size };
            let stream = &mut self.streams[start + turn];
            if !stream.open || again && !stream.sender.has_resend() {
                continue;
            }
            let attempt = match again {
                true => stream.sender.try_resend(now, &mut self.shared, &mut message.data),
                false => stream.sender.try_new(now, &mut self.shared, &mut message.data),
            };
            match attempt {
                Attempt::Nothing => {}
                Attempt::Blocked => return attempt,
                Attempt::Sent => {
                    self.turns[priority] = if turn + 1 < size { turn + 1 } else { 0 };
                    self.note_data_sent(now);
                    self.arm_rto(now);
                    return attempt;
                }
            }
        }
        Attempt::Nothing
    }

    /// What fits into a datagram besides its data packet.
    fn add_companions(&mut self, now: Time, message: &mut Message<P>) {
        let size = message.data.as_ref().map_or(0, |(data, payload)| data.size() + payload.len());
        if size + SYNC_SIZE <= MAX_DATAGRAM {
            message.sync = self.poll_sync(now);
        }
        self.piggyback_ack(now, size + message.overhead(), message);
        self.put_counts(now, size, message);
    }

    /// What cannot wait for data any longer; whether there is something.
    fn put_rest(&mut self, now: Time, message: &mut Message<P>) -> bool {
        message.sync = self.poll_sync(now);
        if self.received_since >= 2 * COUNT_EVERY {
            message.count = Some(self.take_count());
        }
        message.sync.is_some() || message.count.is_some()
    }
}
