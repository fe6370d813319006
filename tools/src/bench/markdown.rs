//! Writes Markdown: paragraphs, tables, and numbers rounded for people.

const COLUMNS: usize = 120;

pub struct Markdown {
    pub text: String,
}

impl Markdown {
    /// Appends a paragraph in lines of [`COLUMNS`]. Appends tables, code and headings unchanged.
    pub fn text(&mut self, text: &str) {
        if text.starts_with(['|', ' ', '#', '<']) {
            self.text += text;
        } else {
            let mut column = 0;
            for word in text.split(' ') {
                if column > 0 && column + 1 + word.len() > COLUMNS {
                    self.text += "\n";
                    column = 0;
                } else if column > 0 {
                    self.text += " ";
                    column += 1;
                }
                self.text += word;
                column += word.len();
            }
        }
        self.text += "\n\n";
    }

    pub fn heading(&mut self, heading: &str) {
        self.text(&format!("## {heading}"));
    }

    /// Appends a table. Each row must have as many columns as the head.
    pub fn table(&mut self, head: &str, rows: impl IntoIterator<Item = String>) {
        let columns = head.matches('|').count().saturating_sub(1);
        self.text += &format!("{head}\n|{}\n", "---|".repeat(columns));
        for row in rows {
            let cells = row.matches('|').count().saturating_sub(1);
            assert_eq!(cells, columns, "a row has the columns of its head: {row}");
            self.text += &row;
            self.text += "\n";
        }
        self.text += "\n";
    }

    /// Returns the document, which ends with one newline.
    pub fn finish(mut self) -> String {
        self.text.truncate(self.text.trim_end().len());
        self.text + "\n"
    }
}

/// Formats a number with about three digits, and without zeros at the end.
pub fn number(value: f64) -> String {
    if value >= 100.0 {
        return count(value.round() as u64);
    }
    let decimals = if value >= 10.0 {
        1
    } else if value >= 1.0 {
        2
    } else {
        3
    };
    let text = format!("{value:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}

/// Formats a number with commas between thousands.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let check = |value: f64, expected: &str| assert_eq!(number(value), expected);
        check(0.0, "0");
        check(0.0123, "0.012");
        check(0.5, "0.5");
        check(1.234, "1.23");
        check(12.34, "12.3");
        check(99.96, "100");
        check(123.4, "123");
        check(1_234_567.0, "1,234,567");
    }
}
