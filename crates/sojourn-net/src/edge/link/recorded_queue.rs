//! A queue discipline whose state and decisions are recorded.

use crate::packet::{Backlog, Packet};
use crate::queue::{QueueContext, QueueDiscipline, QueueObserver};
use crate::record::live::{Tap, Watch};
use crate::units::Time;

/// Delegates to a discipline and records its state and decisions.
pub(crate) struct RecordedQueue {
    inner: Box<dyn QueueDiscipline>,
    watch: Option<Watch>,
    tap: Option<Tap>,
}

impl RecordedQueue {
    /// Records the state of `inner` with `watch`, its packets with `tap`.
    pub(crate) fn new(
        inner: Box<dyn QueueDiscipline>,
        watch: Option<Watch>,
        tap: Option<Tap>,
    ) -> Self {
        RecordedQueue { inner, watch, tap }
    }

    fn through<R>(
        &mut self,
        now: Time,
        cx: &mut QueueContext<'_>,
        call: impl FnOnce(&mut dyn QueueDiscipline, &mut QueueContext<'_>) -> R,
    ) -> R {
        let result = match &mut self.tap {
            Some(tap) => {
                let observer: Option<&mut dyn QueueObserver> = Some(tap);
                call(&mut *self.inner, &mut QueueContext { counters: cx.counters, observer })
            }
            None => call(&mut *self.inner, cx),
        };
        if let Some(watch) = &mut self.watch {
            watch.look(now, |out| {
                let backlog = self.inner.backlog();
                out("packets", (backlog.packets as f64).into());
                out("bytes", (backlog.bytes as f64).into());
                self.inner.observe(out);
            });
        }
        result
    }
}

impl QueueDiscipline for RecordedQueue {
    fn enqueue(&mut self, now: Time, packet: Packet, cx: &mut QueueContext<'_>) {
        self.through(now, cx, |inner, cx| inner.enqueue(now, packet, cx));
    }

    fn dequeue(&mut self, now: Time, cx: &mut QueueContext<'_>) -> Option<Packet> {
        let packet = self.through(now, cx, |inner, cx| inner.dequeue(now, cx));
        if let (Some(tap), Some(packet)) = (&self.tap, &packet) {
            tap.dequeued(now, packet);
        }
        packet
    }

    fn backlog(&self) -> Backlog {
        self.inner.backlog()
    }

    fn can_bypass(&self) -> bool {
        self.inner.can_bypass()
    }

    fn shapes_link(&self) -> bool {
        self.inner.shapes_link()
    }

    fn next_timer(&self) -> Option<Time> {
        self.inner.next_timer()
    }

    fn on_timer(&mut self, now: Time, cx: &mut QueueContext<'_>) {
        self.through(now, cx, |inner, cx| inner.on_timer(now, cx));
    }
}
