//! Samples: counters of components as columns of growth and levels, interval by interval.

use super::chunks::Chunks;
use super::growing::{ABSENT, Growing, with_room};
use super::table::{Column, Table, Values};
use crate::units::Span;

/// How a column of samples is computed from counters of type `C`; `None` is absent.
pub(super) enum Figure<C> {
    /// Growth of a count over the interval.
    Count(fn(&C) -> Option<u64>),
    /// Growth of the count that has the column's name.
    Named(fn(&C, &str) -> Option<u64>),
    /// Growth of a sum of spans, in seconds.
    Spans(fn(&C) -> Option<Span>),
    /// Growth of an integral.
    Integral(fn(&C) -> Option<f64>),
    /// Present whole number at the interval's end.
    Level(fn(&C) -> Option<u64>),
    /// Present value at the interval's end.
    Gauge(fn(&C) -> Option<f64>),
}

// Derived implementations would require that the counters can be copied, too.
impl<C> Clone for Figure<C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for Figure<C> {}

/// The difference of two counters; absent if one of them is.
fn growth(now: i64, before: i64) -> i64 {
    if now == ABSENT || before == ABSENT { ABSENT } else { now.wrapping_sub(before) }
}

/// The values as a column: of whole numbers if none is absent.
fn levels(values: Vec<i64>) -> Values {
    if values.contains(&ABSENT) {
        Values::Reals(values.into_iter().map(|value| real(value, |level| level as f64)).collect())
    } else {
        Values::Integers(values)
    }
}

fn real(value: i64, as_real: impl Fn(i64) -> f64) -> f64 {
    if value == ABSENT { f64::NAN } else { as_real(value) }
}

/// A column of samples: its name and how it follows from the counters.
pub(super) type SampleColumn<C> = (&'static str, Figure<C>);

enum GrowingValues {
    Integers(Growing<i64>),
    Reals(Growing<f64>),
}

/// Samples of counters of type `C`, one row per component and interval. Growth over an interval is
/// computed when rows are taken out: until then, columns hold the counters themselves.
pub(super) struct Samples<C> {
    columns: Vec<SampleColumn<C>>,
    times: Vec<f64>,
    /// Name of the component's column, and its values.
    component: (&'static str, Vec<i64>),
    values: Vec<GrowingValues>,
    components: usize,
    /// The next component to be sampled.
    next: usize,
    /// Expected number of rows.
    expected: usize,
    /// Name of the table whose rows go there, if they do not wait for the end.
    chunks: Option<(&'static str, Chunks)>,
}

impl<C> Samples<C> {
    /// No samples yet of `components` components; `intervals` are expected.
    pub(super) fn new(
        columns: &[SampleColumn<C>],
        component: &'static str,
        components: usize,
        intervals: usize,
    ) -> Self {
        let rows = components.saturating_mul(intervals);
        let empty = |(_, figure): &SampleColumn<C>| match figure {
            Figure::Count(_) | Figure::Named(_) | Figure::Level(_) | Figure::Spans(_) => {
                GrowingValues::Integers(Growing::new(rows))
            }
            Figure::Integral(_) | Figure::Gauge(_) => GrowingValues::Reals(Growing::new(rows)),
        };
        Samples {
            columns: columns.to_vec(),
            times: with_room(rows),
            component: (component, with_room(rows)),
            values: columns.iter().map(empty).collect(),
            components,
            next: 0,
            expected: rows,
            chunks: None,
        }
    }

    /// Rows go to `chunks` as those of the table called `name`, whole intervals at a time. To be
    /// called before any are added.
    pub(super) fn pass_to(&mut self, name: &'static str, chunks: &Chunks) {
        let most = chunks.rows().next_multiple_of(self.components.max(1));
        self.expected = self.expected.min(most);
        self.times = with_room(self.expected);
        self.component.1 = with_room(self.expected);
        for values in &mut self.values {
            match values {
                GrowingValues::Integers(values) => values.divide(self.expected),
                GrowingValues::Reals(values) => values.divide(self.expected),
            }
        }
        self.chunks = Some((name, chunks.clone()));
    }

    /// Adds rows for the interval that ends at `time` (seconds): those of the next components,
    /// whose counters are `now`. After the last component, the first one is next.
    pub(super) fn add(&mut self, time: f64, now: &[C]) {
        let rows = self.next..self.next + now.len();
        self.next = rows.end % self.components;
        self.times.extend(std::iter::repeat_n(time, rows.len()));
        self.component.1.extend(rows.map(|row| row as i64));
        for ((name, figure), values) in self.columns.iter().zip(&mut self.values) {
            match (figure, values) {
                (Figure::Count(get) | Figure::Level(get), GrowingValues::Integers(values)) => {
                    values.extend(
                        now.iter().map(|now| get(now).map_or(ABSENT, |count| count as i64)),
                    );
                }
                (Figure::Named(get), GrowingValues::Integers(values)) => {
                    let count = |now: &C| get(now, name).map_or(ABSENT, |count| count as i64);
                    values.extend(now.iter().map(count));
                }
                (Figure::Spans(get), GrowingValues::Integers(values)) => {
                    let nanos = |span: Span| span.as_nanos() as i64;
                    values.extend(now.iter().map(|now| get(now).map_or(ABSENT, nanos)));
                }
                (Figure::Integral(get) | Figure::Gauge(get), GrowingValues::Reals(values)) => {
                    values.extend(now.iter().map(|now| get(now).unwrap_or(f64::NAN)));
                }
                _ => unreachable!("columns are made to fit their figures"),
            }
        }
        if self.next == 0 {
            self.pass_on();
        }
    }

    /// Passes all rows on if they are enough.
    fn pass_on(&mut self) {
        let rows = self.times.len();
        let due = self.chunks.as_ref().filter(|(_, chunks)| chunks.are_due(rows)).cloned();
        if let Some((name, chunks)) = due {
            chunks.pass(name, self.take());
        }
    }

    /// The samples that have not been passed on, as a table.
    pub(super) fn into_table(mut self) -> Table {
        self.take()
    }

    /// Takes all rows out, as a table.
    fn take(&mut self) -> Table {
        let room = if self.chunks.is_some() { self.expected } else { 0 };
        let times = std::mem::replace(&mut self.times, with_room(room));
        let component = std::mem::replace(&mut self.component.1, with_room(room));
        let mut table = Table::default().with("time", times).integers(self.component.0, component);
        for ((name, figure), values) in self.columns.iter().zip(&mut self.values) {
            let values = figure.take(values, self.components);
            table.columns.push(Column { name, values });
        }
        table
    }
}

impl<C> Figure<C> {
    /// Takes out the column of samples of `components` components.
    fn take(&self, values: &mut GrowingValues, components: usize) -> Values {
        match values {
            GrowingValues::Integers(values) => match self {
                Figure::Count(_) | Figure::Named(_) => {
                    levels(values.take_growth(components, growth))
                }
                Figure::Spans(_) => {
                    let seconds = |nanos| Span::from_nanos(nanos as u64).as_secs_f64();
                    let spans = values.take_growth(components, growth).into_iter();
                    Values::Reals(spans.map(|nanos| real(nanos, seconds)).collect())
                }
                _ => levels(values.take()),
            },
            GrowingValues::Reals(values) => Values::Reals(match self {
                Figure::Integral(_) => values.take_growth(components, |now, before| now - before),
                _ => values.take(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_differences_and_gauges() {
        struct Counters(u64, Span);
        static COLUMNS: &[SampleColumn<Counters>] = &[
            ("count", Figure::Count(|c| Some(c.0))),
            ("spans", Figure::Spans(|c| Some(c.1))),
            ("level", Figure::Level(|c| Some(c.0))),
        ];
        let mut samples = Samples::new(COLUMNS, "flow", 2, 2);
        let first = [Counters(5, Span::from_secs(1)), Counters(7, Span::from_secs(2))];
        samples.add(1.0, &first);
        samples.add(2.0, &[Counters(6, Span::from_secs(4))]);
        let table = samples.into_table();
        assert_eq!(table.reals("time").unwrap(), [1.0, 1.0, 2.0]);
        assert_eq!(table.reals("flow").unwrap(), [0.0, 1.0, 0.0]);
        assert_eq!(table.reals("count").unwrap(), [5.0, 7.0, 1.0]);
        assert_eq!(table.reals("spans").unwrap(), [1.0, 2.0, 3.0]);
        assert_eq!(table.reals("level").unwrap(), [5.0, 7.0, 6.0]);
    }

    #[test]
    fn what_a_component_lacks_is_nan_in_its_rows_only() {
        static COLUMNS: &[SampleColumn<Option<u64>>] = &[
            ("count", Figure::Count(|c| *c)),
            ("spans", Figure::Spans(|c| c.map(Span::from_secs))),
            ("integral", Figure::Integral(|c| c.map(|value| value as f64))),
            ("always", Figure::Count(|c| Some(c.unwrap_or(0)))),
        ];
        let mut samples = Samples::new(COLUMNS, "flow", 2, 2);
        samples.add(1.0, &[Some(5), None]);
        samples.add(2.0, &[Some(7), None]);
        let table = samples.into_table();
        for name in ["count", "spans", "integral"] {
            let values = table.reals(name).unwrap();
            assert_eq!([values[0], values[2]], [5.0, 2.0], "{name}");
            assert!(values[1].is_nan() && values[3].is_nan(), "{name}");
        }
        let always = table.columns.iter().find(|column| column.name == "always").unwrap();
        assert_eq!(always.values, Values::Integers(vec![5, 0, 2, 0]));
    }

    static EVERY: &[SampleColumn<Option<u64>>] = &[
        ("count", Figure::Count(|c| *c)),
        ("named", Figure::Named(|c, _| c.map(|value| 2 * value))),
        ("spans", Figure::Spans(|c| c.map(Span::from_millis))),
        ("integral", Figure::Integral(|c| c.map(|value| value as f64 / 3.0))),
        ("level", Figure::Level(|c| *c)),
        ("gauge", Figure::Gauge(|c| c.map(|value| value as f64 / 7.0))),
        ("late", Figure::Count(|c| Some(c.map_or(0, |value| value.saturating_sub(30))))),
        ("never", Figure::Count(|_| Some(0))),
    ];

    /// Samples of three components over ten intervals, two components at a time; the last has
    /// nothing.
    fn fill(mut samples: Samples<Option<u64>>) -> Table {
        for interval in 1..=10_u64 {
            let now = [Some(interval * interval), Some(7 * interval), None];
            samples.add(interval as f64, &now[..2]);
            samples.add(interval as f64, &now[2..]);
        }
        samples.into_table()
    }

    /// The values, told by their bits.
    fn bits(table: &Table) -> Vec<Vec<u64>> {
        let of = |column: &Column| match &column.values {
            Values::Integers(values) => values.iter().map(|value| *value as u64).collect(),
            Values::Reals(values) => values.iter().map(|value| value.to_bits()).collect(),
        };
        table.columns.iter().map(of).collect()
    }

    #[test]
    fn rows_that_leave_by_chunks_are_those_of_the_whole_table() {
        let whole = fill(Samples::new(EVERY, "flow", 3, 10));
        for rows in [1, 4, 6, 29, 30, 31] {
            let (sender, receiver) = std::sync::mpsc::channel();
            let chunks = Chunks::of(rows, Box::new(move |_, part| sender.send(part).unwrap()));
            let mut samples = Samples::new(EVERY, "flow", 3, 10);
            samples.pass_to("samples", &chunks);
            let rest = fill(samples);
            drop(chunks);
            let parts: Vec<Table> = receiver.iter().collect();
            let at_once = rows.next_multiple_of(3);
            assert_eq!(parts.len(), 30 / at_once, "chunks of {rows}");
            assert!(parts.iter().all(|part| part.columns[0].values.len() == at_once));
            let mut joined = vec![Vec::new(); whole.columns.len()];
            for part in parts.iter().chain([&rest]) {
                joined.iter_mut().zip(bits(part)).for_each(|(all, some)| all.extend(some));
            }
            assert_eq!(joined, bits(&whole), "chunks of {rows}");
        }
    }
}
