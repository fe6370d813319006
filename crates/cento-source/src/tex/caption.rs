//! Captions in the options of an environment: `\begin{lstlisting}[caption={Sort}, label=l]`.

use super::TexReader;
use super::option::{bracketed, seen_values};

impl<'a> TexReader<'a> {
    /// Reads captions in the options of an environment, and skips the other options.
    pub fn captions(&mut self, owner: &str) {
        let source = self.rest;
        let Some(len) = bracketed(self.near(), b'[', b']') else { return };
        let values = seen_values(&source[1..len - 1], owner);
        let mut from = 0;
        for value in &values {
            let start = value.as_ptr() as usize - source.as_ptr() as usize;
            self.pass(&source[from..start]);
            from = start + value.len();
            self.rest = &source[start..from];
            self.gap = Some(self.text.len());
            self.read_rest();
        }
        if !values.is_empty() {
            self.pass(&source[from..len]);
            self.rest = &source[len..];
            self.gap = Some(self.text.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tex::text_of;

    #[test]
    fn options_of_an_environment_show_their_captions_alone() {
        for (tex, text) in [
            (
                "a\\begin{lstlisting}[language=C,\n  caption={The \\emph{sort}, fast}, \
                 label={l:s}]\nx",
                "a\nThe sort, fast\nx",
            ),
            ("\\begin{tcolorbox}[title=Tides, colback=red]a", "Tides a"),
            ("\\lstinputlisting[caption={A sort}]{a.c} b", "A sort b"),
            ("\\begin{theorem}[Tides, title=x]a", "[Tides, title=x]a"),
            ("\\begin{table}[caption={a", "[caption=a"),
        ] {
            assert_eq!(text_of(tex), text, "{tex}");
        }
    }
}
