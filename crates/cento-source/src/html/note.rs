//! Where is the number of a note?

/// Follows the tags of a page.
#[derive(Default)]
pub struct Marks {
    links: usize,
    raised: usize,
}

impl Marks {
    /// Takes a start tag, and returns whether the number of a note begins: a raised link.
    pub fn start(&mut self, name: &[u8]) -> bool {
        match name {
            b"a" => {
                self.links = 1;
                self.raised > 0
            }
            b"sup" => {
                self.raised += 1;
                self.links > 0
            }
            _ => false,
        }
    }

    /// Takes an end tag.
    pub fn end(&mut self, name: &[u8]) {
        match name {
            b"a" => self.links = 0,
            b"sup" => self.raised = self.raised.saturating_sub(1),
            _ => {}
        }
    }
}
