//! Observable state of components: names and values, named as in their papers.

/// A value of a component's state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Observed<'a> {
    /// A number, in the unit that the component's page gives.
    Number(f64),
    /// A word, such as the name of a mode.
    Text(&'a str),
}

/// Called with each name and value; a name without a value at the moment is left out.
pub type Observer<'a> = dyn FnMut(&str, Observed<'_>) + 'a;

impl From<f64> for Observed<'_> {
    fn from(value: f64) -> Self {
        Observed::Number(value)
    }
}

impl From<u32> for Observed<'_> {
    fn from(value: u32) -> Self {
        Observed::Number(value.into())
    }
}

impl<'a> From<&'a str> for Observed<'a> {
    fn from(value: &'a str) -> Self {
        Observed::Text(value)
    }
}
