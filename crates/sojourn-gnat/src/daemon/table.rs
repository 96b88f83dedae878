//! Tables for people: columns of text to the left, of numbers to the right.

use std::fmt;

/// The widest a table may be, in characters.
const WIDEST: usize = 100;
/// Between two columns.
const GAP: usize = 2;
/// No column of text is cut to less.
const NARROWEST: usize = 6;

/// A table being made.
#[derive(Debug)]
pub(super) struct Table {
    /// How many columns are text; they come first.
    texts: usize,
    /// The first row is the head.
    rows: Vec<Vec<String>>,
}

impl Table {
    /// One with these columns of text, then these of numbers.
    pub(super) fn new(texts: &[&str], numbers: &[&str]) -> Self {
        let head = texts.iter().chain(numbers).map(|name| (*name).to_owned()).collect();
        Table { texts: texts.len(), rows: vec![head] }
    }

    /// Adds a row.
    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        // A terminal obeys control characters.
        let plain = |cell: String| cell.replace(char::is_control, "\u{fffd}");
        self.rows.push(cells.into_iter().map(plain).collect());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.len() == 1
    }

    /// The widths of its columns; the widest ones of text give way where there is no room.
    fn widths(&self) -> Vec<usize> {
        let columns = 0..self.rows[0].len();
        let width = |column: usize| self.rows.iter().map(move |row| row[column].chars().count());
        let mut widths: Vec<_> = columns.map(|column| width(column).max().unwrap_or(0)).collect();
        let room = WIDEST - GAP * (widths.len() - 1);
        while widths.iter().sum::<usize>() > room {
            let widest = widths[..self.texts].iter_mut().max();
            match widest.filter(|width| **width > NARROWEST) {
                Some(width) => *width -= 1,
                None => break,
            }
        }
        widths
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        for row in &self.rows {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                if column < self.texts {
                    line += &format!("{:<width$}", cut(cell, *width));
                } else {
                    line += &format!("{cell:>width$}");
                }
                line += &" ".repeat(GAP);
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// The beginning of a text that is too long.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, count: &str) -> String {
        let mut table = Table::new(&["name"], &["count"]);
        table.row([name.to_owned(), count.to_owned()]);
        table.to_string()
    }

    #[test]
    fn columns_are_as_wide_as_what_they_hold() {
        assert_eq!(table("a", "12345678"), "name     count\na     12345678\n");
        assert_eq!(table("neighbour", "1"), "name       count\nneighbour      1\n");
    }

    #[test]
    fn text_is_cut_where_there_is_no_room_and_numbers_never() {
        let wide = table(&"é".repeat(200), "12345678");
        let last = wide.lines().last().unwrap();
        assert_eq!(last, format!("{}…  12345678", "é".repeat(89)));
        assert_eq!(last.chars().count(), WIDEST);
        let number = "1".repeat(200);
        assert!(table("a name", &number).contains(&number));
    }

    #[test]
    fn no_terminal_obeys_a_name() {
        assert!(table("a\u{1b}[31m\n", "1").contains("a\u{fffd}[31m\u{fffd}"));
    }
}
