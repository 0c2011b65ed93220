//! Aligned tables that are valid Markdown and readable on a terminal.

use std::fmt;

/// A table whose first columns are text and whose others are numbers.
pub struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
    texts: usize,
}

impl Table {
    /// Creates a table with this header. The first `texts` columns are aligned to the left.
    pub fn new(texts: usize, head: impl IntoIterator<Item = String>) -> Self {
        Self { head: head.into_iter().collect(), rows: Vec::new(), texts }
    }

    /// Adds a row with as many cells as the header.
    pub fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().chain([&self.head]).filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default().max(3)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths: Vec<usize> = (0..self.head.len()).map(|column| self.width(column)).collect();
        let line = |f: &mut fmt::Formatter<'_>, row: &[String]| {
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                if column < self.texts {
                    write!(f, "| {cell:<width$} ")?;
                } else {
                    write!(f, "| {cell:>width$} ")?;
                }
            }
            writeln!(f, "|")
        };
        line(f, &self.head)?;
        for (column, width) in widths.iter().enumerate() {
            if column < self.texts {
                write!(f, "|{}", "-".repeat(width + 2))?;
            } else {
                write!(f, "|{}:", "-".repeat(width + 1))?;
            }
        }
        writeln!(f, "|")?;
        self.rows.iter().try_for_each(|row| line(f, row))
    }
}

/// Formats a number with commas as thousands separators.
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_left_aligned_and_numbers_are_right_aligned() {
        let mut table = Table::new(1, ["who", "time"].map(str::to_owned));
        table.push(vec!["prowess".to_owned(), "1.5 ×".to_owned()]);
        table.push(vec!["ö".to_owned(), "12.25 ×".to_owned()]);
        let expected = "\
| who     |    time |
|---------|--------:|
| prowess |   1.5 × |
| ö       | 12.25 × |
";
        assert_eq!(table.to_string(), expected);
    }

    #[test]
    fn large_numbers_have_commas() {
        assert_eq!([7, 100, 1_000, 100_000].map(thousands), ["7", "100", "1,000", "100,000"]);
    }
}
