//! What happens inside a kernel after a run: programs end, and their files are copied. The network is
//! gone by then.

use std::sync::atomic::AtomicBool;

use sojourn_base::units::Time;

use super::Virtual;
use super::hearing::inside;
use crate::error::Error;
use crate::uml::HOSTS;
use crate::uml::control::{Copied, Said};
use crate::uml::failure::broken;
use crate::uml::frames::{packet_of, said};
use crate::uml::rings;

/// Longest time, in the kernel's ns, that it may take.
const LONGEST: u64 = 10_000_000_000;
/// Time in the kernel's ns for which it runs alone.
const TURN: u64 = 1_000_000;

impl Virtual {
    /// Lets the kernel run on until what programs have left is copied. The run ended at `now`.
    ///
    /// # Errors
    /// If the kernel ends, or is not done in time.
    pub(in crate::uml) fn wind_up(
        &mut self,
        now: Time,
        stop: &AtomicBool,
    ) -> Result<Copied, Error> {
        let copied = self.until_copied(stop);
        copied.map_err(|error| self.explained(error, now))
    }

    fn until_copied(&mut self, stop: &AtomicBool) -> Result<Copied, Error> {
        let last = self.machine.calendar.now() + LONGEST;
        while let Some((card, head)) = self.sending.sent(u64::MAX) {
            self.give_back(card, head)?;
        }
        loop {
            self.machine.settle(stop)?;
            if let Some(copied) = self.copied()? {
                return Ok(copied);
            }
            let time = match self.due {
                0 => self.machine.calendar.request(),
                _ => Some(self.machine.calendar.now()),
            };
            let Some(time) = time.filter(|time| *time <= last) else {
                return Err(broken("the files that programs wrote were not copied in time"));
            };
            self.machine.run(time, std::mem::take(&mut self.due), time + TURN)?;
        }
    }

    /// Takes what the kernel has sent; returns what it has copied, if it is done.
    fn copied(&mut self) -> Result<Option<Copied>, Error> {
        let mut copied = None;
        for card in 0..self.machine.cards.len() {
            while let Some(head) = self.machine.cards[card].rings.take(&mut self.frame)? {
                let told = packet_of(&self.frame).and_then(said).filter(|_| card < HOSTS);
                match told.and_then(Said::parse) {
                    // No program is left that could spin, and a large file takes its time.
                    Some(Said::Copying) => self.machine.longest = None,
                    Some(Said::Copied(told)) => copied = Some(told),
                    Some(Said::Failed(why)) => return Err(inside(why)),
                    _ => {}
                }
                self.give_back(card, head)?;
            }
            if self.machine.cards[card].rings.give_held()? {
                self.due |= rings::bit(card, rings::RECEIVING);
            }
        }
        Ok(copied)
    }
}
