//! Tables: the form in which results leave the core.

use crate::units::Span;

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Whole numbers: counts, indices.
    Integers(Vec<i64>),
    /// Real numbers; NaN where a value is unknown.
    Reals(Vec<f64>),
}

impl Values {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Values::Integers(values) => values.len(),
            Values::Reals(values) => values.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values as real numbers.
    pub fn to_reals(&self) -> Vec<f64> {
        match self {
            Values::Integers(values) => values.iter().map(|value| *value as f64).collect(),
            Values::Reals(values) => values.clone(),
        }
    }
}

/// A named column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its values.
    pub values: Values,
}

/// Columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The columns.
    pub columns: Vec<Column>,
}

impl Table {
    /// The column called `name`, as real numbers; `None` if there is none.
    pub fn reals(&self, name: &str) -> Option<Vec<f64>> {
        let column = self.columns.iter().find(|column| column.name == name)?;
        Some(column.values.to_reals())
    }

    /// Replaces the values of these columns by unknown ones.
    #[must_use]
    pub fn without(mut self, names: &[&str]) -> Self {
        for column in self.columns.iter_mut().filter(|column| names.contains(&column.name)) {
            column.values = Values::Reals(vec![f64::NAN; column.values.len()]);
        }
        self
    }

    /// Adds a column of whole numbers.
    #[must_use]
    pub fn integers(mut self, name: &'static str, values: Vec<i64>) -> Self {
        self.columns.push(Column { name, values: Values::Integers(values) });
        self
    }

    /// Adds a column of real numbers.
    #[must_use]
    pub fn with(mut self, name: &'static str, values: Vec<f64>) -> Self {
        self.columns.push(Column { name, values: Values::Reals(values) });
        self
    }
}

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

/// Value of an absent whole number until a column is finished; NaN is an absent real number.
const ABSENT: i64 = i64::MIN;

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

/// A column that grows. Many counters stay at zero (marks, timeouts, most drops): a column of zeros
/// takes no memory.
struct Growing<T> {
    /// Number of zeros, while `values` is empty.
    zeros: usize,
    values: Vec<T>,
    /// Expected number of values.
    expected: usize,
}

impl<T: Copy + Default + PartialEq> Growing<T> {
    fn new(expected: usize) -> Self {
        Growing { zeros: 0, values: Vec::new(), expected }
    }

    fn extend(&mut self, mut values: impl Iterator<Item = T>) {
        if self.values.is_empty() {
            for value in values.by_ref() {
                if value != T::default() {
                    self.values = with_room(self.expected);
                    self.values.resize(self.zeros, T::default());
                    self.values.push(value);
                    break;
                }
                self.zeros += 1;
            }
        }
        self.values.extend(values);
    }

    fn finish(self) -> Vec<T> {
        if self.values.is_empty() { vec![T::default(); self.zeros] } else { self.values }
    }

    /// Replaces each value but a component's first by its difference to the component's last one.
    fn difference(&mut self, components: usize, minus: impl Fn(T, T) -> T) {
        for row in (components..self.values.len()).rev() {
            self.values[row] = minus(self.values[row], self.values[row - components]);
        }
    }
}

/// An empty vector with room for this many values, if there is enough memory: a vector that grows
/// by doubling is copied each time.
fn with_room<T>(values: usize) -> Vec<T> {
    let mut vector = Vec::new();
    let _ = vector.try_reserve_exact(values);
    vector
}

enum GrowingValues {
    Integers(Growing<i64>),
    Reals(Growing<f64>),
}

/// Samples of counters of type `C`, one row per component and interval. Growth over an interval is
/// computed at the end: until then, columns hold the counters themselves.
pub(super) struct Samples<C> {
    columns: Vec<SampleColumn<C>>,
    times: Vec<f64>,
    /// Name of the component's column, and its values.
    component: (&'static str, Vec<i64>),
    values: Vec<GrowingValues>,
    components: usize,
    /// The next component to be sampled.
    next: usize,
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
        }
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
    }

    /// The samples as a table.
    pub(super) fn into_table(self) -> Table {
        let mut table = Table::default().with("time", self.times);
        table = table.integers(self.component.0, self.component.1);
        let named = self.columns.into_iter().zip(self.values);
        let column = |((name, figure), values): (SampleColumn<C>, GrowingValues)| Column {
            name,
            values: figure.finish(values, self.components),
        };
        table.columns.extend(named.map(column));
        table
    }
}

impl<C> Figure<C> {
    /// The column of samples of `components` components.
    fn finish(&self, values: GrowingValues, components: usize) -> Values {
        match values {
            GrowingValues::Integers(mut values) => {
                if let Figure::Count(_) | Figure::Named(_) | Figure::Spans(_) = self {
                    values.difference(components, growth);
                }
                if let Figure::Spans(_) = self {
                    let seconds = |nanos| Span::from_nanos(nanos as u64).as_secs_f64();
                    let values = values.finish().into_iter();
                    return Values::Reals(values.map(|nanos| real(nanos, seconds)).collect());
                }
                levels(values.finish())
            }
            GrowingValues::Reals(mut values) => {
                if let Figure::Integral(_) = self {
                    values.difference(components, |now, before| now - before);
                }
                Values::Reals(values.finish())
            }
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
}
