//! Runs the command `cento` and reads its JSON.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::Args;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Result;

/// The program under test.
#[derive(Debug, Clone, Args)]
pub struct Cento {
    /// Path of the cento program to test.
    #[arg(long, value_name = "PATH", default_value = "target/release/cento")]
    cento: PathBuf,
}

impl Cento {
    /// Uses the command at this path.
    pub fn at(path: &Path) -> Cento {
        Cento { cento: path.to_owned() }
    }

    /// Returns the JSON lines that a command prints and the seconds that the command took. Exit
    /// status 1, for nothing found, is no error.
    pub fn json(&self, args: &[&str]) -> Result<(Vec<Value>, f64)> {
        let started = Instant::now();
        let output = Command::new(&self.cento)
            .args(args)
            .args(["--format", "json"])
            .stderr(Stdio::inherit())
            .output()?;
        let seconds = started.elapsed().as_secs_f64();
        if !matches!(output.status.code(), Some(0 | 1)) {
            return Err(format!("cento {} failed: {}", args.join(" "), output.status).into());
        }
        let lines = output.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let values = lines.map(serde_json::from_slice).collect::<std::result::Result<_, _>>()?;
        Ok((values, seconds))
    }

    /// Returns the last JSON object that a command prints.
    pub fn object(&self, args: &[&str]) -> Result<Value> {
        let (mut values, _) = self.json(args)?;
        values.pop().ok_or_else(|| format!("cento {} printed nothing", args.join(" ")).into())
    }
}

/// A document of a corpus.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Document {
    /// The unique name of the document in the corpus.
    pub id: String,
    /// The text of the document, which may be empty.
    pub text: String,
}

/// Iterates over the documents of a JSON lines file, which may be compressed with zstd.
pub fn documents(path: &Path) -> Result<impl Iterator<Item = Result<Document>>> {
    json_lines(path)
}

/// Iterates over the values of a JSON lines file, which may be compressed with zstd.
pub fn json_lines<T: DeserializeOwned>(path: &Path) -> Result<impl Iterator<Item = Result<T>>> {
    let file = File::open(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let inner: Box<dyn Read> = match path.extension().is_some_and(|extension| extension == "zst") {
        true => Box::new(zstd::Decoder::new(file)?),
        false => Box::new(file),
    };
    let lines = BufReader::with_capacity(1 << 20, inner).lines();
    Ok(lines.map(|line| Ok(serde_json::from_str(&line?)?)))
}
