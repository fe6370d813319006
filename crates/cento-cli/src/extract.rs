//! How does the command read documents that are no text?

use cento_source::{Extraction, SourceOptions};

/// Reads Office documents and PDF for another process of this program; not for people.
#[cfg(feature = "office")]
#[derive(Debug, clap::Args)]
pub struct ExtractWorker {}

#[cfg(feature = "office")]
impl ExtractWorker {
    pub(super) fn run(self) -> super::Result {
        cento_source::serve_extraction(
            &mut std::io::stdin().lock(),
            &mut std::io::stdout().lock(),
        )?;
        Ok(super::Outcome::Found)
    }
}

/// Returns what extracts texts: this program, in processes of its own, if it can.
pub fn extraction() -> Option<Extraction> {
    use std::path::PathBuf;
    use std::sync::OnceLock;
    // One for all verbs' parts, so that processes are started once.
    static EXTRACTION: OnceLock<Option<Extraction>> = OnceLock::new();
    let by_itself = || {
        // This one, even after another was installed at its path.
        let own = PathBuf::from("/proc/self/exe");
        let program = if own.exists() { own } else { std::env::current_exe().ok()? };
        cfg!(feature = "office").then(|| Extraction::by(program))
    };
    EXTRACTION.get_or_init(by_itself).clone()
}

/// Returns how files are read if no option says otherwise.
pub fn source_options() -> SourceOptions {
    SourceOptions { extraction: extraction(), ..SourceOptions::default() }
}
