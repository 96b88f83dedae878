//! Tables: the form in which results leave the core.

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

    /// The same in the rows that are `unknown`, by their numbers.
    #[must_use]
    pub fn blank(mut self, names: &[&str], unknown: impl Fn(usize) -> bool) -> Self {
        for column in self.columns.iter_mut().filter(|column| names.contains(&column.name)) {
            if !(0..column.values.len()).any(&unknown) {
                continue;
            }
            let mut values = column.values.to_reals();
            for (_, value) in values.iter_mut().enumerate().filter(|(row, _)| unknown(*row)) {
                *value = f64::NAN;
            }
            column.values = Values::Reals(values);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_some_rows_do_not_show_is_known_of_the_others() {
        let table = || Table::default().integers("a", vec![1, 2, 3]).integers("b", vec![4, 5, 6]);
        let odd = table().blank(&["b", "c"], |row| row == 1);
        assert_eq!(odd.columns[0], table().columns[0]);
        let values = odd.reals("b").unwrap();
        assert_eq!((values[0], values[1].is_nan(), values[2]), (4.0, true, 6.0));
        assert_eq!(table().blank(&["a", "b"], |_| false), table());
        assert!(table().without(&["a"]).reals("a").unwrap().iter().all(|value| value.is_nan()));
    }
}
