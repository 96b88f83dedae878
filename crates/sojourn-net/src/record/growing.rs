//! Columns that grow row by row, of which those that have nothing yet take no memory.

/// Value of an absent whole number until a column is finished; NaN is an absent real number.
pub(super) const ABSENT: i64 = i64::MIN;

/// A value of a column.
pub(super) trait Value: Copy + Default {
    fn is_absent(self) -> bool;

    /// Whether two are the same, absent ones too.
    fn is(self, other: Self) -> bool;
}

impl Value for i64 {
    fn is_absent(self) -> bool {
        self == ABSENT
    }

    fn is(self, other: Self) -> bool {
        self == other
    }
}

impl Value for f64 {
    fn is_absent(self) -> bool {
        self.is_nan()
    }

    fn is(self, other: Self) -> bool {
        self == other || self.to_bits() == other.to_bits()
    }
}

/// A column that grows. Many counters stay at zero (marks, timeouts, most drops) or are those of other
/// transports: a column of zeros, or of absent values, takes no memory.
pub(super) struct Growing<T> {
    /// Zero or an absent value, and how many of it there are, while `values` is empty.
    blank: T,
    blanks: usize,
    values: Vec<T>,
    /// Expected number of values.
    expected: usize,
    /// If values leave by chunks: each component's value before these; none while all were zeros.
    before: Option<Vec<T>>,
}

impl<T: Value> Growing<T> {
    pub(super) fn new(expected: usize) -> Self {
        Growing { blank: T::default(), blanks: 0, values: Vec::new(), expected, before: None }
    }

    pub(super) fn extend(&mut self, mut values: impl Iterator<Item = T>) {
        if self.values.is_empty() {
            for value in values.by_ref() {
                if self.blanks == 0 && value.is_absent() {
                    self.blank = value;
                }
                if !value.is(self.blank) {
                    self.values = with_room(self.expected);
                    self.values.resize(self.blanks, self.blank);
                    self.values.push(value);
                    break;
                }
                self.blanks += 1;
            }
        }
        self.values.extend(values);
    }

    /// Takes the values out.
    pub(super) fn take(&mut self) -> Vec<T> {
        let (blank, blanks) = (std::mem::take(&mut self.blank), std::mem::take(&mut self.blanks));
        let values = std::mem::take(&mut self.values);
        if values.is_empty() { vec![blank; blanks] } else { values }
    }

    /// Takes the values out, each as its difference to the component's one before.
    pub(super) fn take_growth(&mut self, components: usize, minus: impl Fn(T, T) -> T) -> Vec<T> {
        let before = self.before.as_mut().map(std::mem::take).unwrap_or_default();
        let is_blank = self.values.is_empty() && before.is_empty();
        let is_zero = is_blank && !self.blank.is_absent();
        let mut values = self.take();
        if let Some(last) = self.before.as_mut().filter(|_| !is_zero) {
            last.extend_from_slice(&values[values.len().saturating_sub(components)..]);
        }
        if is_blank {
            return values; // as their growth is
        }
        let grow = |now: &mut [T], before: &[T]| {
            now.iter_mut().zip(before).for_each(|(now, before)| *now = minus(*now, *before));
        };
        for interval in (components..values.len()).step_by(components.max(1)).rev() {
            let (earlier, now) = values.split_at_mut(interval);
            grow(now, &earlier[interval - components..]);
        }
        grow(&mut values, &before);
        values
    }

    /// From now on values leave by chunks of `expected`.
    pub(super) fn divide(&mut self, expected: usize) {
        self.expected = expected;
        self.before = Some(Vec::new());
    }
}

/// An empty vector with room for this many values, if there is enough memory: a vector that grows
/// by doubling is copied each time.
pub(super) fn with_room<T>(values: usize) -> Vec<T> {
    let mut vector = Vec::new();
    let _ = vector.try_reserve_exact(values);
    vector
}
