//! `cento method fingerprint` prints the fingerprints of texts.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::create::ConfigArgs;
use crate::extract::{ReaderArgs, source_options, without_text_field};
use crate::hints::ErrorWithHint;
use crate::key;
use crate::output::{self, Format};
use crate::parse::parse_encoding;
use crate::terminal::{line, tell};
use crate::whole::{self, LengthArgs};
use crate::{Result, VerbOutcome};
use cento::Error;
use cento::search::ForeignSignature;
use cento::text::Tokens;
use cento_client::api::SignatureBody;
use cento_source::{SourceOptions, read_text};

/// Show the fingerprints of a document, its signature.
///
/// `cento search --signature` takes the JSON output as a query, so that you can search on a machine
/// that never sees the text.
#[derive(Debug, Args)]
pub struct Fingerprint {
    /// File, or - for standard input.
    file: PathBuf,
    /// Use the scheme and analyzer of this index.
    #[arg(
        long, value_name = "INDEX",
        conflicts_with_all = ["for", "scheme", "analyzer", "frequencies"],
    )]
    like: Option<PathBuf>,
    #[command(flatten)]
    config: ConfigArgs,
    /// Encoding of the file. Default: detected.
    #[arg(long, value_name = "NAME", value_parser = parse_encoding)]
    encoding: Option<String>,
    #[command(flatten)]
    length: LengthArgs,
    #[command(flatten)]
    readers: ReaderArgs,
    /// Output format.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// Reads the signature in the file `path`, which has at most `bytes_max` bytes.
pub fn read(path: &Path, bytes_max: usize) -> cento::Result<SignatureBody> {
    let refused = |e| {
        Error::input(
            path.display().to_string(),
            format!("not a signature made by `cento method fingerprint --format json`: {e}"),
        )
    };
    serde_json::from_slice(&whole::read(path, bytes_max)?).map_err(refused)
}

impl Fingerprint {
    pub(super) fn run(self) -> Result {
        let index = self.like.as_ref().map(key::open).transpose()?;
        let own;
        let config = match &index {
            Some(index) => index.config(),
            None => {
                own = self.config.config_of_files(&[&self.file])?;
                &own
            }
        };
        let options = SourceOptions {
            encoding: self.encoding,
            readers: self.readers.readers(),
            record_bytes_max: self.length.bytes_max(),
            ..source_options()
        };
        let mut missing = |missing: &Error| tell!("cento: {}", ErrorWithHint(missing));
        let text = read_text(&self.file, &options, &mut missing).map_err(without_text_field)?;
        let mut tokens = Tokens::default();
        let signature = ForeignSignature::new(config, &text, &mut tokens)?.body(config);
        let fingerprints = &signature.fingerprints;
        if self.format == Format::Json {
            output::print_json(&signature)?;
        } else {
            let mut out = io::BufWriter::new(io::stdout().lock());
            for (key, position) in fingerprints {
                let span = tokens.spans[*position as usize];
                let end = text[span.start as usize..].char_indices().nth(60);
                let end = end.map_or(text.len(), |(at, _)| span.start as usize + at);
                let start = text[span.start as usize..end].split_whitespace();
                let start = start.collect::<Vec<_>>().join(" ");
                line!(out, "{key:>13} {position:>8}  {start}")?;
            }
            out.flush()?;
        }
        Ok(if fingerprints.is_empty() { VerbOutcome::Nothing } else { VerbOutcome::Found })
    }
}
