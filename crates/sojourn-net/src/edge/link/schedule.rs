//! Schedules: a rate, a delay or a loss that changes with time.
//!
//! - `steps`: at each listed time a new value holds; with `repeat` the list is repeated with that
//!   period. Before the first step the link's own value holds.
//! - `square`: `high` for the share `duty` of every `period`, `low` for the rest.
//! - `walk`: from `start`, every `interval` a step of normal distribution with standard deviation
//!   `step`. Successive steps have the given correlation. The walk is reflected at `least` and
//!   `most`.
//!
//! A schedule is a function of time alone: it costs nothing while it does not change, and the same
//! seed gives the same walk whatever the traffic.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::FieldError;
use crate::quantity::{Decibels, Percent};
use crate::rng::draw::normal;
use crate::rng::{Stream, StreamKey};
use crate::units::{Rate, Span, Time};

/// The shortest time between changes: shorter ones would cost more than the packets.
pub(super) const SHORTEST: Span = Span::from_micros(10);

/// A quantity that a schedule can vary.
pub trait Level: Copy + PartialOrd {
    /// The value as a number of base units.
    fn to_number(self) -> f64;
    /// The value from a number of base units, rounded.
    fn from_number(number: f64) -> Self;
}

impl Level for Rate {
    fn to_number(self) -> f64 {
        self.as_bps() as f64
    }
    fn from_number(number: f64) -> Self {
        Rate::from_bps(number.round().max(1.0) as u64)
    }
}

impl Level for Span {
    fn to_number(self) -> f64 {
        self.as_nanos() as f64
    }
    fn from_number(number: f64) -> Self {
        Span::from_nanos(number.round().max(0.0) as u64)
    }
}

impl Level for Percent {
    fn to_number(self) -> f64 {
        self.fraction()
    }
    fn from_number(number: f64) -> Self {
        Percent::new(100.0 * number)
    }
}

impl Level for Decibels {
    fn to_number(self) -> f64 {
        self.0
    }
    fn from_number(number: f64) -> Self {
        Decibels(number)
    }
}

/// A value that holds from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step<T> {
    /// Since the start of the run, or of the repetition.
    pub at: Span,
    /// The value from then on.
    pub value: T,
}

/// A schedule as a scenario writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ScheduleSpec<T> {
    /// New values at listed times.
    Steps {
        /// In ascending order of time.
        steps: Vec<Step<T>>,
        /// Period after which the list is repeated.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repeat: Option<Span>,
    },
    /// Two alternating values.
    Square {
        /// The first value.
        high: T,
        /// The second value.
        low: T,
        /// Duration of both together.
        period: Span,
        /// Share of the period with `high`.
        #[serde(default = "half")]
        duty: Percent,
    },
    /// A bounded random walk.
    Walk {
        /// The first value.
        start: T,
        /// Standard deviation of a step.
        step: T,
        /// Time between steps.
        interval: Span,
        /// Correlation of successive steps.
        #[serde(default)]
        correlation: Percent,
        /// Lower bound.
        least: T,
        /// Upper bound.
        most: T,
    },
}

fn half() -> Percent {
    Percent::new(50.0)
}

impl<T: Level> ScheduleSpec<T> {
    /// Checks times and bounds.
    ///
    /// # Errors
    /// Names the key, relative to the schedule.
    pub fn validate(&self) -> Result<(), FieldError> {
        let at_least = |field: &str, span: Span, least: Span| {
            let message = format!("{span} given; allowed: at least {least}");
            if span < least { Err(FieldError::new(field, message)) } else { Ok(()) }
        };
        match self {
            ScheduleSpec::Steps { steps, repeat } => {
                if steps.is_empty() {
                    return Err(FieldError::new("steps", "is empty; give at least one step"));
                }
                for (index, pair) in steps.windows(2).enumerate() {
                    let field = format!("steps.{}.at", index + 1);
                    at_least(&field, pair[1].at, pair[0].at + SHORTEST)?;
                }
                let last = steps[steps.len() - 1].at;
                repeat.map_or(Ok(()), |repeat| at_least("repeat", repeat, last + SHORTEST))
            }
            ScheduleSpec::Square { period, .. } => at_least("period", *period, SHORTEST * 2),
            ScheduleSpec::Walk { start, interval, least, most, .. } => {
                if !(least <= start && start <= most) {
                    return Err(FieldError::new("start", "must be between least and most"));
                }
                at_least("interval", *interval, SHORTEST)
            }
        }
    }

    /// A single representative value: the mean of a square wave, the first value of the others.
    pub fn nominal(&self) -> Option<T> {
        match self {
            ScheduleSpec::Steps { steps, .. } => steps.first().map(|step| step.value),
            ScheduleSpec::Square { high, low, duty, .. } => {
                let share = duty.fraction();
                let mean = share * high.to_number() + (1.0 - share) * low.to_number();
                Some(T::from_number(mean))
            }
            ScheduleSpec::Walk { start, .. } => Some(*start),
        }
    }
}

/// A schedule in progress. Times passed to it must not decrease.
#[derive(Debug)]
pub struct Schedule<T> {
    value: T,
    next: Time,
    form: Form<T>,
}

#[derive(Debug)]
enum Form<T> {
    Steps { steps: Vec<Step<T>>, repeat: Option<Span>, base: Time, index: usize },
    Square { values: [T; 2], spans: [Span; 2], second: bool },
    Walk(Box<Walk>),
}

/// State of a random walk, in base units.
#[derive(Debug)]
struct Walk {
    deviation: f64,
    interval: Span,
    correlation: f64,
    bounds: (f64, f64),
    position: f64,
    /// The last step, in standard deviations.
    step: f64,
    random: Stream,
}

impl<T: Level> Schedule<T> {
    /// Starts with `initial` if the schedule gives no start. `key` names a walk's draws.
    pub fn new(spec: &ScheduleSpec<T>, initial: T, key: StreamKey) -> Self {
        let mut schedule = match spec {
            ScheduleSpec::Steps { steps, repeat } => Schedule {
                value: initial,
                next: Time::ZERO + steps[0].at,
                form: Form::Steps {
                    steps: steps.clone(),
                    repeat: *repeat,
                    base: Time::ZERO,
                    index: 0,
                },
            },
            ScheduleSpec::Square { high, low, period, duty } => {
                let first = period.mul_f64(duty.fraction());
                let spans = [first, *period - first];
                let form = Form::Square { values: [*high, *low], spans, second: false };
                Schedule { value: *high, next: Time::ZERO + first, form }
            }
            ScheduleSpec::Walk { start, step, interval, correlation, least, most } => Schedule {
                value: *start,
                next: Time::ZERO + *interval,
                form: Form::Walk(Box::new(Walk {
                    deviation: step.to_number(),
                    interval: *interval,
                    correlation: correlation.fraction(),
                    bounds: (least.to_number(), most.to_number()),
                    position: start.to_number(),
                    step: 0.0,
                    random: key.stream(),
                })),
            },
        };
        schedule.at(Time::ZERO);
        schedule
    }

    /// The value at `now`.
    #[inline]
    pub fn at(&mut self, now: Time) -> T {
        while now >= self.next {
            self.advance();
        }
        self.value
    }

    /// When the value that [`Schedule::at`] last returned ceases to hold.
    #[inline]
    pub fn next_change(&self) -> Time {
        self.next
    }

    fn advance(&mut self) {
        let now = self.next;
        match &mut self.form {
            Form::Steps { steps, repeat, base, index } => {
                self.value = steps[*index].value;
                *index += 1;
                if *index == steps.len()
                    && let Some(repeat) = *repeat
                {
                    (*index, *base) = (0, *base + repeat);
                }
                self.next = steps.get(*index).map_or(Time::NEVER, |step| *base + step.at);
            }
            Form::Square { values, spans, second } => {
                *second = !*second;
                self.value = values[usize::from(*second)];
                self.next = now + spans[usize::from(*second)];
            }
            Form::Walk(walk) => {
                self.value = T::from_number(walk.step());
                self.next = now + walk.interval;
            }
        }
    }
}

impl Walk {
    fn step(&mut self) -> f64 {
        let fresh = normal(&mut self.random);
        let rho = self.correlation;
        self.step = rho * self.step + (1.0 - rho * rho).sqrt() * fresh;
        self.position = reflect(self.position + self.deviation * self.step, self.bounds);
        self.position
    }
}

/// Reflects `x` at the bounds, as often as necessary.
fn reflect(x: f64, (least, most): (f64, f64)) -> f64 {
    let width = most - least;
    if width <= 0.0 {
        return least;
    }
    let phase = (x - least).rem_euclid(2.0 * width);
    least + if phase > width { 2.0 * width - phase } else { phase }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn mbps(mbps: u64) -> Rate {
        Rate::from_bps(mbps * 1_000_000)
    }

    fn read(text: &str) -> ScheduleSpec<Rate> {
        let spec: ScheduleSpec<Rate> = toml::from_str(text).unwrap();
        spec.validate().unwrap();
        spec
    }

    #[test]
    fn steps_repeat_and_leave_the_start_alone() {
        let spec = read(
            r#"
            kind = "steps"
            steps = [{ at = "10 ms", value = "5 Mbit/s" }, { at = "30 ms", value = "1 Mbit/s" }]
            repeat = "50 ms"
            "#,
        );
        let mut schedule = Schedule::new(&spec, mbps(9), StreamKey::root(1));
        let got: Vec<_> = (0..14).map(|i| schedule.at(ms(10 * i)).as_bps() / 1_000_000).collect();
        assert_eq!(got, [9, 5, 5, 1, 1, 1, 5, 5, 1, 1, 1, 5, 5, 1]);
    }

    #[test]
    fn square_wave_keeps_its_duty() {
        let spec = read(
            r#"
            kind = "square"
            high = "10 Mbit/s"
            low = "2 Mbit/s"
            period = "10 ms"
            duty = "30 %"
            "#,
        );
        assert_eq!(spec.nominal(), Some(Rate::from_bps(4_400_000)));
        let mut schedule = Schedule::new(&spec, mbps(1), StreamKey::root(1));
        let high = (0..1000).filter(|i| schedule.at(ms(*i)) == mbps(10)).count();
        assert_eq!(high, 300);
    }

    #[test]
    fn walk_has_its_step_its_correlation_and_its_bounds() {
        for correlation in [0.0, 60.0] {
            let spec = ScheduleSpec::Walk {
                start: mbps(500),
                step: mbps(1),
                interval: Span::from_millis(1),
                correlation: Percent::new(correlation),
                least: mbps(1),
                most: mbps(1000),
            };
            let mut schedule = Schedule::new(&spec, mbps(1), StreamKey::root(4));
            let mut again = Schedule::new(&spec, mbps(1), StreamKey::root(4));
            let path: Vec<f64> = (0..20_000).map(|i| schedule.at(ms(i)).to_number()).collect();
            assert!((0..20_000).all(|i| again.at(ms(i)).to_number() == path[i as usize]));
            let steps: Vec<f64> = path.windows(2).map(|p| (p[1] - p[0]) / 1e6).collect();
            let variance = steps.iter().map(|s| s * s).sum::<f64>() / steps.len() as f64;
            let product = steps.windows(2).map(|s| s[0] * s[1]).sum::<f64>() / steps.len() as f64;
            assert!((variance - 1.0).abs() < 0.06, "{variance}");
            assert!((product / variance - correlation / 100.0).abs() < 0.03, "{product}");
        }
    }

    #[test]
    fn walk_stays_within_narrow_bounds() {
        let spec = ScheduleSpec::Walk {
            start: Percent::new(1.0),
            step: Percent::new(5.0),
            interval: Span::from_millis(1),
            correlation: Percent::new(0.0),
            least: Percent::new(0.5),
            most: Percent::new(3.0),
        };
        let mut schedule = Schedule::new(&spec, Percent::new(1.0), StreamKey::root(4));
        let values: Vec<f64> = (0..5000).map(|i| schedule.at(ms(i)).fraction()).collect();
        assert!(values.iter().all(|v| (0.005..=0.03).contains(v)));
        let mean = values.iter().sum::<f64>() / 5000.0;
        assert!((mean - 0.0175).abs() < 0.0005, "reflection leaves no end favoured: {mean}");
    }

    #[test]
    fn refuses_what_cannot_be_a_schedule() {
        let why = |text: &str| {
            let spec: ScheduleSpec<Span> = toml::from_str(text).unwrap();
            spec.validate().unwrap_err().to_string()
        };
        let steps = r#"steps = [{ at = "2 s", value = "1 ms" }, { at = "1 s", value = "2 ms" }]"#;
        assert!(why(&format!("kind = \"steps\"\n{steps}")).starts_with("steps.1.at: 1 s given"));
        assert!(why("kind = \"steps\"\nsteps = []").contains("is empty"));
    }
}
