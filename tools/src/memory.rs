//! Measures the memory for texts that were made to take much memory.
//!
//! The texts are lines and bodies of dots, of `a a a ...`, and of U+FDFA, which is eighteen letters
//! in one character. Their tokens are as short as possible. Peaks are of whole processes (`VmHWM`),
//! including pages of the program and of mapped files.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use cento::CompareOptions;
use cento::search::SearchOptions;
use cento_client::Client;
use cento_client::api::{Commit, CompareRequest, DocumentBody, SearchRequest, TextOrId};
use clap::Args;

use crate::Result;
use crate::bench::process::memory_mb;
use crate::service::Running;

/// Measure the peak memory of `add` and of a service for texts that were made to take much.
#[derive(Debug, Args)]
pub struct Memory {
    /// A directory for the files and the indexes, which are made anew.
    #[arg(long)]
    work: PathBuf,
    /// Path of the cento program to test.
    #[arg(long, default_value = "target/release/cento")]
    cento: PathBuf,
    /// `--memory` of the program, in MiB.
    #[arg(long, default_value = "512")]
    memory: usize,
    /// The allowed peak beyond that, in MB.
    #[arg(long, default_value = "300")]
    slack: usize,
    /// The bytes of a line.
    #[arg(long, default_value = "60000000")]
    line: usize,
    /// The bytes of a body, and how many are sent at once.
    #[arg(long, default_value = "15000000")]
    body: usize,
    /// Bodies that are sent at once.
    #[arg(long, default_value = "8")]
    bodies: usize,
}

const KINDS: [(&str, &str); 3] = [("dots", "."), ("a a a", "a "), ("U+FDFA", "\u{fdfa}")];

fn text(unit: &str, bytes: usize) -> String {
    unit.repeat(bytes / unit.len())
}

impl Memory {
    pub(crate) fn run(self) -> Result {
        if self.work.exists() {
            fs::remove_dir_all(&self.work)?;
        }
        fs::create_dir_all(&self.work)?;
        let limit = self.memory * (1 << 20) / 1_000_000 + self.slack;
        println!("--memory {}MiB; at most {limit} MB\n", self.memory);
        println!("| what | peak, MB | |\n|---|---|---|");
        let mut worst = self.adding()?;
        for (name, unit) in KINDS {
            worst = worst.max(self.serving(name, unit)?);
        }
        if worst > limit {
            return Err(format!("{worst} MB are more than {limit}").into());
        }
        Ok(())
    }

    fn adding(&self) -> Result<usize> {
        let mut worst = 0;
        let all = self.work.join("all.jsonl");
        let mut files = vec![("all three", all.clone())];
        fs::write(&all, "")?;
        for (name, unit) in KINDS {
            let path = self.work.join(format!("{}.jsonl", files.len()));
            let line = format!("{{\"id\":\"{name}\",\"text\":\"{}\"}}\n", text(unit, self.line));
            fs::write(&path, &line)?;
            fs::OpenOptions::new().append(true).open(&all)?.write_all(line.as_bytes())?;
            files.push((name, path));
        }
        for (name, path) in files {
            for without in [&["--no-text"][..], &[]] {
                let index = self.work.join("add.idx");
                if index.exists() {
                    fs::remove_dir_all(&index)?;
                }
                let mut command = Command::new(&self.cento);
                command.arg("create").arg(&index).args(without).stderr(Stdio::null());
                if !command.status()?.success() {
                    return Err("the index could not be created".into());
                }
                let mut command = Command::new("/usr/bin/time");
                command.args(["-f", "%M"]).arg(&self.cento).arg("add").arg(&index).arg(&path);
                command.args(["--memory", &format!("{}MiB", self.memory)]);
                let done = command.stdin(Stdio::null()).output()?;
                let told = String::from_utf8_lossy(&done.stderr);
                let peak = told.lines().last().and_then(|line| line.trim().parse::<usize>().ok());
                let peak = peak.ok_or_else(|| format!("no peak: {told}"))? * 1024 / 1_000_000;
                let text = if without.is_empty() { "with" } else { "without" };
                let told = told.lines().rev().skip(1).collect::<Vec<_>>().join(" ");
                println!("| add, {name}, {text} text | {peak} | {told} |");
                worst = worst.max(peak);
            }
        }
        Ok(worst)
    }

    /// Starts a service for every route, so that peaks are separate.
    fn serving(&self, name: &str, unit: &str) -> Result<usize> {
        let mut worst = 0;
        let memory = format!("{}MiB", self.memory);
        for route in ["documents", "search", "passages", "compare"] {
            let index = self.work.join("serve.idx");
            if index.exists() {
                fs::remove_dir_all(&index)?;
            }
            if !Command::new(&self.cento).arg("create").arg(&index).status()?.success() {
                return Err("the index could not be created".into());
            }
            let mut service =
                Running::start(&self.cento, &index, &["--memory", &memory, "--timeout", "10min"])?;
            let small = text(unit, self.body / 2 - 100);
            let large = text(unit, self.body - 100);
            let client = Client::new(&service.url, None)?;
            if route == "passages" {
                let document = DocumentBody {
                    id: "stored".into(),
                    text: small.clone(),
                    meta: serde_json::Map::new(),
                    id_place: None,
                };
                let lines = serde_json::to_string(&document)?;
                client.add_lines(lines.as_bytes(), Commit::Wait)?;
            }
            let ask = |number: usize| -> std::result::Result<(), cento::Error> {
                let client = Client::new(&service.url, None)?;
                match route {
                    "documents" => {
                        let document = DocumentBody {
                            id: number.to_string(),
                            text: large.clone(),
                            meta: serde_json::Map::new(),
                            id_place: None,
                        };
                        let lines = serde_json::to_string(&document).unwrap_or_default();
                        client.add_lines(lines.as_bytes(), Commit::Wait).map(drop)
                    }
                    "compare" => {
                        let side = || TextOrId::Text(small.clone());
                        let request = CompareRequest {
                            a: side(),
                            b: side(),
                            options: CompareOptions::default(),
                        };
                        client.compare(&request).map(drop)
                    }
                    _ => {
                        let request = SearchRequest {
                            text: Some(large.clone()),
                            options: SearchOptions::default().passages(route == "passages"),
                            ..SearchRequest::default()
                        };
                        client.search(&request).map(drop)
                    }
                }
            };
            let outcomes: Vec<_> = thread::scope(|scope| {
                let asked: Vec<_> =
                    (0..self.bodies).map(|number| scope.spawn(move || ask(number))).collect();
                asked.into_iter().map(|asked| asked.join()).collect()
            });
            let peak = memory_mb(service.id(), "VmHWM:").ok_or("the system does not say")? as usize;
            let mut told = std::collections::BTreeMap::new();
            for outcome in outcomes {
                let outcome = match outcome.map_err(|_| "a client panicked")? {
                    Ok(()) => "answered".to_owned(),
                    Err(cento::Error::Service { code, .. }) => code,
                    Err(error) => error.to_string(),
                };
                *told.entry(outcome).or_insert(0) += 1;
            }
            let told: Vec<_> = told.iter().map(|(what, count)| format!("{count} {what}")).collect();
            println!("| /v1/{route}, {name} | {peak} | {} |", told.join(", "));
            worst = worst.max(peak);
            service.kill()?;
        }
        Ok(worst)
    }
}
