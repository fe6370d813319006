//! Drawings, whose commands are written in words: `\draw (0,0) to node {text} (1,1);`.

/// Environments that are drawings.
const DRAWINGS: [&str; 2] = ["tikzpicture", "pgfpicture"];

/// The outermost open drawing. Only text in braces is text.
#[derive(Debug, Default)]
pub struct Drawing {
    name: Option<&'static str>,
    /// The number of open braces around the drawing.
    depth: usize,
}

impl Drawing {
    /// Takes the begin of an environment.
    pub fn begin(&mut self, name: &str, depth: usize) {
        if self.name.is_none() {
            self.name = DRAWINGS.into_iter().find(|drawing| *drawing == name);
            self.depth = depth;
        }
    }

    /// Takes the end of an environment. `rest` begins with the name in braces.
    pub fn end(&mut self, rest: &str) {
        let name = rest.strip_prefix('{').and_then(|rest| rest.split('}').next());
        if name == self.name {
            self.name = None;
        }
    }

    /// Returns whether a character here is a part of a command of the drawing.
    pub fn hides(&self, c: char, depth: usize) -> bool {
        self.name.is_some() && depth <= self.depth && !c.is_whitespace() && !"\\{}%$".contains(c)
    }
}
