//! Runs the command and reads its verdicts.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use serde_json::Value;

use crate::Result;
use crate::cento::Document;

/// A command with options that gives verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// `dedup`, without an index.
    Stream,
    /// `dedup --index`.
    Index,
    /// `dedup --index --no-text`.
    NoText,
    /// `dedup --against` an index of the first half.
    Against,
    /// `dedup --index --out`, killed midway and continued with `--resume`.
    Resume,
    /// `pairs`.
    Pairs,
    /// `pairs`, of an index that stores no text.
    PairsNoText,
    /// `cluster`.
    Cluster,
    /// `cluster`, of an index that stores no text.
    ClusterNoText,
}

impl Mode {
    /// Returns the name of the mode in a table.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Stream => "dedup",
            Mode::Index => "dedup --index",
            Mode::NoText => "dedup --no-text",
            Mode::Against => "dedup --against",
            Mode::Resume => "dedup --resume",
            Mode::Pairs => "pairs",
            Mode::PairsNoText => "pairs, no texts",
            Mode::Cluster => "cluster",
            Mode::ClusterNoText => "cluster, no texts",
        }
    }
}

/// A conclusion about two documents, given by id.
pub enum Verdict {
    /// The texts are equal.
    Exact(String, String),
    /// The first document is dropped for the second, or belongs to its cluster.
    Near(String, String),
    /// The documents are shown as a pair.
    Pair(String, String),
}

/// The verdicts of a run.
pub struct Run {
    /// The verdicts, in the order that the command printed.
    pub verdicts: Vec<Verdict>,
    /// Index of the first judged document. Earlier documents are in the index to compare with.
    pub judged_from: usize,
    /// Seconds that the run took.
    pub seconds: f64,
    /// A remark to print beside the figures.
    pub note: Option<String>,
}

/// Runs a command over a corpus.
pub struct Runner<'a> {
    /// Path of the cento command.
    pub cento: &'a Path,
    /// Scheme of new indexes.
    pub scheme: &'a str,
    /// Directory for indexes and outputs.
    pub work: &'a Path,
    /// The number of documents in the corpus.
    pub documents: usize,
}

impl Runner<'_> {
    /// Writes the corpus, and its halves, to the directory for work.
    pub fn write_corpus(work: &Path, documents: &[Document]) -> Result {
        let (first, second) = documents.split_at(documents.len() / 2);
        for (name, part) in [("all", documents), ("first", first), ("second", second)] {
            let mut out = BufWriter::new(File::create(work.join(format!("{name}.jsonl")))?);
            for document in part {
                writeln!(out, "{}", serde_json::to_string(document)?)?;
            }
            out.flush()?;
        }
        Ok(())
    }

    /// Runs the command in this mode, with this threshold of resemblance.
    pub fn run(&self, mode: Mode, threshold: f64) -> Result<Run> {
        let started = Instant::now();
        let (mut judged_from, mut note) = (0, None);
        let threshold = threshold.to_string();
        let verdicts = match mode {
            Mode::Stream => self.dedup(&["all.jsonl"], &threshold)?,
            Mode::Index => {
                self.dedup(&["all.jsonl", "--index", &self.fresh("index")?], &threshold)?
            }
            Mode::NoText => {
                let index = self.fresh("no-text")?;
                self.dedup(&["all.jsonl", "--no-text", "--index", &index], &threshold)?
            }
            Mode::Against => {
                judged_from = self.documents / 2;
                let index = self.index("first", true)?;
                self.dedup(&["second.jsonl", "--against", &index], &threshold)?
            }
            Mode::Resume => {
                let (verdicts, told) = self.resumed(&threshold)?;
                note = Some(told);
                verdicts
            }
            Mode::Pairs | Mode::PairsNoText => {
                let index = self.index("all", mode == Mode::Pairs)?;
                self.pairs(&index, &threshold)?
            }
            Mode::Cluster | Mode::ClusterNoText => {
                let index = self.index("all", mode == Mode::Cluster)?;
                self.clusters(&index, &threshold)?
            }
        };
        Ok(Run { verdicts, judged_from, seconds: started.elapsed().as_secs_f64(), note })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.work.join(name)
    }

    /// Returns the path of a directory that does not exist yet.
    fn fresh(&self, name: &str) -> Result<String> {
        let path = self.path(name);
        if path.exists() {
            std::fs::remove_dir_all(&path)?;
        }
        Ok(name.to_owned())
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.cento);
        // Indexes and files have a name relative to the directory.
        command.args(args).current_dir(self.work).stdin(Stdio::null());
        command.stderr(File::create(self.path("stderr")).map_or(Stdio::null(), Stdio::from));
        command
    }

    fn finish(&self, mut child: Child, what: &str) -> Result {
        let status = child.wait()?;
        if !matches!(status.code(), Some(0 | 1)) {
            let told = std::fs::read_to_string(self.path("stderr")).unwrap_or_default();
            return Err(format!("cento {what} failed: {status}: {told}").into());
        }
        Ok(())
    }

    /// Returns an index of a part of the corpus, making it on the first call.
    fn index(&self, part: &str, has_texts: bool) -> Result<String> {
        let name = format!("{part}{}.idx", if has_texts { "" } else { "-no-text" });
        if !self.path(&name).exists() {
            let mut create = vec!["create", &name, "--scheme", self.scheme];
            create.extend((!has_texts).then_some("--no-text"));
            let corpus = format!("{part}.jsonl");
            for args in [create, vec!["add", &name, &corpus]] {
                let child = self.command(&args).stdout(Stdio::null()).spawn()?;
                self.finish(child, &args.join(" "))?;
            }
        }
        Ok(name)
    }

    fn dedup(&self, args: &[&str], threshold: &str) -> Result<Vec<Verdict>> {
        let report = "report.jsonl";
        let mut args = [&["dedup"], args].concat();
        args.extend(["--min-resemblance", threshold, "--dropped", report]);
        // The index to compare with already has the scheme.
        if !args.contains(&"--against") {
            args.extend(["--scheme", self.scheme]);
        }
        // The command overwrites no file.
        let _ = std::fs::remove_file(self.path(report));
        let child = self.command(&args).stdout(Stdio::null()).spawn()?;
        self.finish(child, &args.join(" "))?;
        self.report(report)
    }

    fn report(&self, name: &str) -> Result<Vec<Verdict>> {
        let mut verdicts = Vec::new();
        for line in BufReader::new(File::open(self.path(name))?).lines() {
            let line: Value = serde_json::from_str(&line?)?;
            let member = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
            let (id, of) = (member("id"), member("of"));
            match line["verdict"].as_str() {
                Some("exact") => verdicts.push(Verdict::Exact(id, of)),
                Some("near") => verdicts.push(Verdict::Near(id, of)),
                _ => {}
            }
        }
        Ok(verdicts)
    }

    /// Kills the run after half of the output, and resumes the run.
    fn resumed(&self, threshold: &str) -> Result<(Vec<Verdict>, String)> {
        let names = ["whole", "parts"].map(|name| {
            let index = self.fresh(&format!("{name}.idx"))?;
            let [out, report] = ["out", "report"].map(|kind| format!("{name}.{kind}"));
            for file in [&out, &report] {
                let _ = std::fs::remove_file(self.path(file));
            }
            Ok([index, out, report])
        });
        let [whole, parts]: [[String; 3]; 2] = match names {
            [Ok(whole), Ok(parts)] => [whole, parts],
            [Err(error), _] | [_, Err(error)] => return Err(error),
        };
        let run = |[index, out, report]: &[String; 3], resumes: bool| -> Result<Child> {
            let args = ["dedup", "all.jsonl", "--index", index, "--out", out, "--dropped", report];
            let mut args = args.to_vec();
            args.extend(["--min-resemblance", threshold, "--scheme", self.scheme]);
            args.extend(["--memory", "32MiB"]);
            args.extend(resumes.then_some("--resume"));
            Ok(self.command(&args).stdout(Stdio::null()).spawn()?)
        };
        self.finish(run(&whole, false)?, "dedup")?;
        let half = std::fs::metadata(self.path(&whole[1]))?.len() / 2;
        let mut child = run(&parts, false)?;
        let mut is_killed = false;
        while child.try_wait()?.is_none() {
            let written = std::fs::metadata(self.path(&parts[1])).map_or(0, |file| file.len());
            if written >= half {
                child.kill()?;
                child.wait()?;
                is_killed = true;
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let kept = std::fs::metadata(self.path(&parts[1])).map_or(0, |file| file.len());
        if is_killed {
            self.finish(run(&parts, true)?, "dedup --resume")?;
        }
        let same = |at: usize| -> Result<bool> {
            let read = |name: &str| std::fs::read(self.path(name));
            Ok(read(&whole[at])? == read(&parts[at])?)
        };
        let note = format!(
            "{}, {}",
            match is_killed {
                true => format!("killed with {kept} of {} bytes written", half * 2),
                false => "NOT KILLED: it ended before".into(),
            },
            match same(1)? && same(2)? {
                true => "the same output as uninterrupted",
                false => "OUTPUT DIFFERS from that of the whole run",
            }
        );
        Ok((self.report(&parts[2])?, note))
    }

    /// Calls `each` with the objects printed by a command.
    fn lines(&self, args: &[&str], each: &mut dyn FnMut(Value)) -> Result {
        let mut child = self.command(args).stdout(Stdio::piped()).spawn()?;
        let out = child.stdout.take().ok_or("standard output is a pipe")?;
        for line in BufReader::with_capacity(1 << 20, out).lines() {
            each(serde_json::from_str(&line?)?);
        }
        self.finish(child, &args.join(" "))
    }

    fn pairs(&self, index: &str, threshold: &str) -> Result<Vec<Verdict>> {
        let args = ["pairs", index, "--min-resemblance", threshold, "--format", "json"];
        let mut verdicts = Vec::new();
        self.lines(&args, &mut |pair| {
            if let (Some(a), Some(b)) = (pair["a"].as_str(), pair["b"].as_str()) {
                verdicts.push(Verdict::Pair(a.to_owned(), b.to_owned()));
            }
        })?;
        Ok(verdicts)
    }

    fn clusters(&self, index: &str, threshold: &str) -> Result<Vec<Verdict>> {
        let args = ["cluster", index, "--min-resemblance", threshold, "--format", "json"];
        let mut verdicts = Vec::new();
        self.lines(&args, &mut |cluster| {
            let Some(of) = cluster["representative"].as_str() else { return };
            for member in cluster["members"].as_array().into_iter().flatten() {
                if let Some(id) = member["id"].as_str() {
                    verdicts.push(Verdict::Near(id.to_owned(), of.to_owned()));
                }
            }
        })?;
        Ok(verdicts)
    }
}
