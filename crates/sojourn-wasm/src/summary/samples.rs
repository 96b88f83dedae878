//! Columns of samples by interval and member.

use sojourn_net::record::Table;

/// Times are whole nanoseconds written as seconds: compared with a tenth of one to spare.
pub(super) const EPSILON: f64 = 1e-10;

/// A table of samples: in each interval, a row per member.
pub(super) struct Samples<'a> {
    table: &'a Table,
    pub(super) members: usize,
    /// When each interval begins and ends, in seconds.
    pub(super) intervals: Vec<(f64, f64)>,
}

impl<'a> Samples<'a> {
    pub(super) fn new(table: &'a Table, members: usize) -> Self {
        let times = table.reals("time").unwrap_or_default();
        let ends = times.into_iter().step_by(members.max(1));
        let mut begin = 0.0;
        let interval = |end| (std::mem::replace(&mut begin, end), end);
        Samples { table, members, intervals: ends.map(interval).collect() }
    }

    /// A column, interval by interval.
    ///
    /// # Panics
    /// There is none of this name.
    pub(super) fn column(&self, name: &str) -> Vec<f64> {
        self.table.reals(name).unwrap_or_else(|| panic!("samples have no column {name}"))
    }

    /// The sum of a column per member, of the intervals that count for it; NaN of a member that lacks
    /// the column.
    pub(super) fn total(&self, name: &str, counts: impl Fn(usize, usize) -> bool) -> Vec<f64> {
        let column = self.column(name);
        let mut totals = vec![f64::NAN; self.members];
        for (row, value) in column.iter().enumerate() {
            let total = &mut totals[row % self.members];
            if !value.is_nan() && total.is_nan() {
                *total = 0.0;
            }
        }
        for (row, value) in column.iter().enumerate() {
            let (interval, member) = (row / self.members, row % self.members);
            if counts(interval, member) {
                totals[member] += value;
            }
        }
        totals
    }
}

/// A column of a table with a row per member.
///
/// # Panics
/// There is none of this name.
pub(super) fn facts(table: &Table, name: &str) -> Vec<f64> {
    table.reals(name).unwrap_or_else(|| panic!("members have no column {name}"))
}
