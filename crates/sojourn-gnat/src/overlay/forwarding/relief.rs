//! Relief of starving queues, by what each one's gradient lacks to be the largest.

use super::Forwarding;
use crate::overlay::members::bits as members;
use crate::overlay::message::Class;
use sojourn_base::units::Time;

impl Forwarding {
    /// Relieves queues that starve, if they are to be relieved.
    #[cold]
    pub(crate) fn relieve(&mut self, now: Time) {
        let waiting = self.bins.waiting(Class::Normal) | self.bins.waiting(Class::Timed);
        if !self.params.anti_starvation || waiting == 0 && self.groups.packets() == 0 {
            return;
        }
        let gradients: Vec<f64> = (0..self.bins.len()).map(|to| self.best_gradient(to)).collect();
        let largest = gradients.iter().copied().fold(self.steepest_group(), f64::max);
        let (_, capacity) = self.capacities();
        for to in members(waiting).filter(|to| gradients[*to] < largest) {
            let lacks = largest - gradients[to] + 1.0;
            self.bins.change(to, |bin| bin.relieve(now, capacity, lacks));
        }
        self.relieve_groups(now, capacity, largest);
    }

    fn steepest(&self, group: usize) -> f64 {
        members(self.neighbours.working())
            .map(|index| self.choice(index, group).gradient)
            .fold(0.0, f64::max)
    }

    /// The largest gradient of any group.
    fn steepest_group(&self) -> f64 {
        (0..self.groups.len()).map(|group| self.steepest(group)).fold(0.0, f64::max)
    }

    /// Relieves groups that starve, each destination by itself.
    fn relieve_groups(&mut self, now: Time, capacity: f64, largest: f64) {
        for group in 0..self.groups.len() {
            let waiting = self.groups[group].waiting();
            let gradient = if waiting == 0 { largest } else { self.steepest(group) };
            if gradient < largest {
                for to in members(waiting) {
                    let lacks = largest - gradient + 1.0;
                    self.groups[group].relieve(now, to, capacity, lacks);
                }
            }
        }
    }
}
