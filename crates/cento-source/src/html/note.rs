//! Numbers of notes.

/// Follows the tags of a page.
#[derive(Default)]
pub struct Marks {
    is_in_link: bool,
    raised: usize,
}

impl Marks {
    /// Takes a start tag, and returns whether the number of a note begins: a raised link.
    pub fn start(&mut self, name: &[u8]) -> bool {
        match name {
            b"a" => {
                self.is_in_link = true;
                self.raised > 0
            }
            b"sup" => {
                self.raised += 1;
                self.is_in_link
            }
            _ => false,
        }
    }

    /// Takes an end tag.
    pub fn end(&mut self, name: &[u8]) {
        match name {
            b"a" => self.is_in_link = false,
            b"sup" => self.raised = self.raised.saturating_sub(1),
            _ => {}
        }
    }
}
