//! What the agent inside a kernel says.

use sojourn_net::net::Network;

use super::Virtual;
use crate::error::Error;
use crate::uml::HOSTS;
use crate::uml::control::{PIECE, Report, Said};
use crate::uml::failure::broken;
use crate::uml::frames::{answer, packet_of, said};

impl Virtual {
    /// Handles a message of the agent.
    pub(super) fn heard(
        &mut self,
        net: &mut Network,
        side: usize,
        question: &[u8],
        what: &[u8],
    ) -> Result<(), Error> {
        let now = self.machine.calendar.now();
        let said = Said::parse(what);
        match said {
            Some(Said::Piece(number)) => return self.tell(side, question, number),
            Some(Said::Begun(passed)) => {
                self.zero = Some(now - passed.as_nanos());
                self.check_registers()?;
                return self.machine.begin();
            }
            _ => self.advance(net, now)?,
        }
        match said {
            Some(Said::Reports(reports)) => self.watch(net, reports),
            Some(Said::News(news)) => self.watched.hear(news),
            Some(Said::Failed(why)) => return Err(inside(why)),
            Some(said) => self.note(net, &said),
            None => return Err(broken("the agent inside the kernel sent what cannot be read")),
        }
        Ok(())
    }

    /// The failure that the agent has told of, if the kernel ended before it was heard.
    pub(super) fn last_message(&mut self) -> Option<Error> {
        let mut frame = Vec::new();
        for card in self.machine.cards.iter_mut().take(HOSTS) {
            while let Ok(Some(_)) = card.rings.take(&mut frame) {
                let told = packet_of(&frame).and_then(said).and_then(Said::parse);
                if let Some(Said::Failed(why)) = told {
                    return Some(inside(why));
                }
            }
        }
        None
    }

    /// Checks that the kernel keeps all registers of programs, if there are any.
    fn check_registers(&self) -> Result<(), Error> {
        if self.doings.is_none() {
            return Ok(());
        }
        match self.machine.console()?.complaints().registers {
            Some(why) => {
                Err(broken(&format!("this processor has more than the kernel keeps: {why}")))
            }
            None => Ok(()),
        }
    }

    /// Tells the agent a piece of what is to be run.
    fn tell(&mut self, side: usize, question: &[u8], number: u32) -> Result<(), Error> {
        let from = (number as usize * PIECE).min(self.description.len());
        let to = (from + PIECE).min(self.description.len());
        let reply = answer(question, &self.description[from..to]);
        self.deliver(side, &reply)
    }

    fn watch(&mut self, net: &Network, mut reports: &[u8]) {
        while let Some(report) = Report::take_from(&mut reports) {
            let Report { flow, written, total, info } = report;
            self.watched.report(net.now(), flow, (written, total), info);
        }
    }

    /// Notes what a program has done; what it does after the end is no part of the run.
    fn note(&mut self, net: &Network, said: &Said<'_>) {
        let Some(doings) = self.doings.as_mut().filter(|doings| !doings.finished) else { return };
        match *said {
            Said::Started(program, process) => doings.started(net.now(), program, process),
            Said::Wrote(program, stream, bytes) => {
                doings.wrote(net.now(), (program, stream), bytes);
            }
            Said::Ended(program, status) => doings.ended(net.now(), program, status),
            Said::Finished => doings.finished = true,
            _ => {}
        }
    }
}

/// The agent has failed.
pub(super) fn inside(why: &str) -> Error {
    broken(&format!("inside the kernel: {why}"))
}
