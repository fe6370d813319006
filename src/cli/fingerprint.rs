//! `cento fingerprint`

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::{Deserialize, Serialize};

use super::add::parse_encoding;
use super::create::ConfigArgs;
use super::output::{self, Format};
use super::{Outcome, Result};
use crate::error::Error;
use crate::index::{Config, Index};
use crate::scheme;
use crate::search::Subject;
use crate::text::{Tokens, charset};

/// Show the signature of a document.
///
/// The JSON form can be searched for with `cento search --signature`, on a machine that never
/// sees the text.
#[derive(Debug, Args)]
pub struct Fingerprint {
    /// The file, or - for standard input.
    file: PathBuf,
    /// Sign as the documents of this index were.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["scheme", "analyzer", "frequencies"])]
    index: Option<PathBuf>,
    #[command(flatten)]
    config: ConfigArgs,
    /// The encoding of the file; found if not given.
    #[arg(long, value_name = "NAME", value_parser = parse_encoding)]
    encoding: Option<String>,
    /// The form of the signature.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

/// A signature as it travels between machines. Keys are strings of decimal digits, because many
/// readers of JSON round large numbers.
#[derive(Debug, Serialize, Deserialize)]
struct Signature {
    scheme: String,
    analyzer: String,
    key_bits: u8,
    /// The digest of the frequency table, if the scheme reads one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    frequencies: Option<String>,
    tokens: u32,
    fingerprints: Vec<(String, u32)>,
}

/// The bytes of a file, or of standard input if it is named `-`.
pub fn read_bytes(path: &Path) -> crate::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = match path.to_str() {
        Some("-") => io::stdin().lock().read_to_end(&mut bytes),
        _ => std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)),
    };
    read.map_err(|e| Error::io("read", path, e))?;
    Ok(bytes)
}

/// The signature in the file `path`, if it was made as `config` says.
pub fn read(path: &Path, config: &Config) -> crate::Result<Subject> {
    let refused = |what: String| Error::input(path.display().to_string(), what);
    let signature: Signature = serde_json::from_slice(&read_bytes(path)?)
        .map_err(|e| refused(format!("this is no signature: {e}")))?;
    let made = (signature.scheme.as_str(), signature.analyzer.as_str());
    let (scheme, analyzer) = (config.scheme.to_string(), config.analyzer.to_string());
    if made != (&scheme, &analyzer) || signature.key_bits != config.scheme.key_bits() {
        let what = format!(
            "it was made with {} and {}, but the index has {scheme} and {analyzer}; make it again \
             with `cento fingerprint --scheme '{scheme}' --analyzer '{analyzer}'`",
            made.0, made.1
        );
        return Err(refused(what));
    }
    if signature.frequencies != config.frequencies_digest() {
        let what = "it was made with another frequency table than the index has; make it again \
                    with `cento fingerprint --index`, or with the index's frequencies.cento";
        return Err(refused(what.into()));
    }
    let mut fingerprints = Vec::with_capacity(signature.fingerprints.len());
    let mut last = 0;
    for (key, position) in signature.fingerprints {
        let fits = |key: &u64| signature.key_bits == 64 || key >> signature.key_bits == 0;
        let Some(number) = key.parse().ok().filter(fits) else {
            return Err(refused(format!("`{key}` is no key of {} bits", signature.key_bits)));
        };
        if position < last || position >= signature.tokens {
            let tokens = signature.tokens;
            let what =
                format!("the position {position} is not in order, or beyond {tokens} tokens");
            return Err(refused(what));
        }
        last = position;
        fingerprints.push(scheme::Fingerprint { key: number, position });
    }
    Ok(Subject::Signature { tokens: signature.tokens, fingerprints })
}

impl Fingerprint {
    pub(super) fn run(self) -> Result {
        let index = self.index.as_ref().map(Index::open).transpose()?;
        let own;
        let config = match &index {
            Some(index) => index.config(),
            None => {
                own = self.config.config(false)?;
                &own
            }
        };
        let bytes = read_bytes(&self.file)?;
        let text = charset::decode(&bytes, self.encoding.as_deref()).text;
        let mut tokens = Tokens::default();
        let fingerprints = config.sign_into(&text, &mut tokens)?;
        if self.format == Format::Json {
            output::print_json(&Signature {
                scheme: config.scheme.to_string(),
                analyzer: config.analyzer.to_string(),
                key_bits: config.scheme.key_bits(),
                frequencies: config.frequencies_digest(),
                tokens: tokens.hashes.len() as u32,
                fingerprints: fingerprints
                    .iter()
                    .map(|f| (f.key.to_string(), f.position))
                    .collect(),
            })?;
        } else {
            let mut out = io::BufWriter::new(io::stdout().lock());
            for fingerprint in &fingerprints {
                let span = tokens.spans[fingerprint.position as usize];
                let end = text[span.start as usize..].char_indices().nth(60);
                let end = end.map_or(text.len(), |(at, _)| span.start as usize + at);
                let start = text[span.start as usize..end].split_whitespace();
                let start = start.collect::<Vec<_>>().join(" ");
                let (key, position) = (fingerprint.key, fingerprint.position);
                writeln!(out, "{key:>13} {position:>8}  {start}")?;
            }
            out.flush()?;
        }
        Ok(if fingerprints.is_empty() { Outcome::Nothing } else { Outcome::Found })
    }
}
