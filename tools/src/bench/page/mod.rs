//! Renders the record of a run as docs/BENCHMARKS.md.

use super::markdown::{Markdown, count, number};
use super::record::{Engine, Kept, Latencies, Latency, Outcome, Run, Spent};
use crate::Result;
use crate::baseline::{CENTO, U64_TERMS};

const LINES_MAX: usize = 250;

/// Renders the document from a run, if one is recorded, and from the figures of longer runs.
pub fn render(run: Option<&Run>, kept: &[Kept]) -> Result<String> {
    let mut out = Markdown { text: String::new() };
    out.text(
        "<!-- Written by `cento-tools bench --write` from tools/bench.json; not to be edited. -->",
    );
    out.text("# Benchmarks");
    out.text(
        "You want to know how fast cento is, and how much memory and disk it needs. All tables \
         but the last come from one run. [QUALITY.md](QUALITY.md) has the findings, \
         [DESIGN.md](DESIGN.md) the floors and the rejected layouts.",
    );
    match run {
        Some(run) => {
            let page = Page { run, out };
            let page = page.head()?.glance()?.commands()?.others()?;
            out = page.scaling()?.service()?.options()?.counts().out;
        }
        None => {
            out.text(
                "No run has been recorded. These commands measure everything and write this file:",
            );
            out.text(
                "    cargo build --release --workspace\n    target/release/cento-tools bench \
                 --write",
            );
        }
    }
    longer(&mut out, kept);
    let out = out.finish();
    let lines = out.lines().count();
    match lines <= LINES_MAX {
        true => Ok(out),
        false => Err(format!("the document has {lines} lines, more than {LINES_MAX}").into()),
    }
}

struct Page<'a> {
    run: &'a Run,
    out: Markdown,
}

impl Page<'_> {
    /// Returns the name and the megabytes of the main corpus.
    fn main(&self) -> Result<(&str, f64)> {
        let main = self.run.corpora.last().ok_or("the run has no corpus")?;
        Ok((&main.name, main.megabytes))
    }

    fn part(&self) -> String {
        format!("the first {} MB of {}", number(self.run.part.megabytes), self.run.part.name)
    }

    fn head(mut self) -> Result<Self> {
        let machine = &self.run.machine;
        let head = format!(
            "| | |\n|---|---|\n\
             | machine | {}, {} cores, {} GiB of memory, {}; load {} as the run began |\n\
             | state | commit {}, {}, profile `{}` |\n\
             | command | `cargo build --release --workspace && {}` |",
            machine.processor,
            machine.cores,
            number(machine.memory_gib),
            machine.kernel,
            number(machine.load),
            machine.commit,
            machine.date,
            machine.profile,
            machine.command,
        );
        self.out.text(&head);
        let rows: Vec<String> = self
            .run
            .corpora
            .iter()
            .map(|corpus| {
                let (documents, megabytes) =
                    (count(corpus.documents as u64), number(corpus.megabytes));
                format!("| {} | {} | {documents} | {megabytes} |", corpus.name, corpus.contents)
            })
            .collect();
        self.out.table("| corpus | contents | documents | MB of text |", rows);
        self.out.text(
            "Read times as ratios, because another machine, or other work on this machine, \
             changes all of them alike. *Wall* is time by the clock, *processor* the time of all \
             threads together. 1 MB is 1,000,000 bytes. *Signing* splits the same texts into \
             words and winnows them on one thread, which everything that reads text has to do. \
             The scheme is the default, `winnow(k=5,w=10)` over `words`, unless a row has \
             another. Latencies are p50, p99: half of your searches, and 99 of 100, are at least \
             this fast. They come from one warm thread, at most ten hits, and the round with the \
             lowest median of three.",
        );
        Ok(self)
    }

    fn job(&self, command: &str) -> Result<Spent> {
        let job = self.run.jobs.iter().find(|job| job.command == command);
        Ok(job.ok_or_else(|| format!("the run has no `{command}`"))?.spent)
    }

    fn engine(&self, name: &str) -> Result<&Engine> {
        let engine = self.run.engines.iter().find(|engine| engine.name == name);
        engine.ok_or_else(|| format!("the run has no engine `{name}`").into())
    }

    fn latencies(&self, engine: &str) -> Result<Latencies> {
        let latencies = self.engine(engine)?.latencies;
        latencies.ok_or_else(|| format!("{engine} was not searched").into())
    }

    fn search(&self, options: &str) -> Result<Latencies> {
        let search = self.run.searches.iter().find(|search| search.options.starts_with(options));
        Ok(search.ok_or_else(|| format!("the run has no search `{options}`"))?.latencies)
    }

    /// Returns the processor time as a multiple of the time of signing.
    fn signings(&self, spent: Spent) -> String {
        times(spent.processor_seconds / self.run.signing_seconds)
    }

    fn glance(mut self) -> Result<Self> {
        let (main, megabytes) = self.main()?;
        let mut rows = Vec::new();
        for (name, command) in [
            ("add documents, texts stored", "add"),
            ("add documents, texts not stored", "add --no-text"),
        ] {
            let spent = self.job(command)?;
            let (wall, processor) = speeds(megabytes, spent);
            rows.push(format!(
                "| {name} | {wall} MB/s wall, {processor} MB/s processor | {} the processor time \
                 of signing | {main} |",
                self.signings(spent)
            ));
        }
        let size = self.run.index;
        rows.push(format!(
            "| size of the index | {} of the text, {} without texts | tantivy with the same u64 \
             terms: {} | {main}; {} |",
            number(size.with_texts_mb / megabytes),
            number(size.without_texts_mb / megabytes),
            times(self.engine(U64_TERMS)?.index_mb / self.engine(CENTO)?.index_mb),
            self.part()
        ));
        let (own, terms) = (self.latencies(CENTO)?, self.latencies(U64_TERMS)?);
        for (name, own, terms) in [
            ("search a passage of 100 words", own.passage, terms.passage),
            ("search a whole document", own.document, terms.document),
        ] {
            rows.push(format!(
                "| {name} | {} us wall | tantivy with the same u64 terms: {} | {} |",
                pair(own),
                times(terms.p50_us / own.p50_us),
                self.part()
            ));
        }
        let (plain, passages) = (self.search("--counts-only")?, self.search("--passages")?);
        rows.push(format!(
            "| the same passage, aligned with ten hits | {} us wall | {} the search alone | \
             {main} |",
            pair(passages.passage),
            times(passages.passage.p50_us / plain.passage.p50_us)
        ));
        for (name, command) in [
            ("all pairs of resemblance 0.8", "pairs --min-resemblance 0.8"),
            ("remove near-duplicates, 0.8", "dedup --min-resemblance 0.8"),
        ] {
            let spent = self.job(command)?;
            let (wall, _) = speeds(megabytes, spent);
            rows.push(format!(
                "| {name} | {} s wall, {wall} MB/s; {} MB of memory | {} the processor time of \
                 signing | {main} |",
                number(spent.seconds),
                number(spent.peak_mb),
                self.signings(spent)
            ));
        }
        self.out.heading("At a glance");
        self.out.text(
            "Each row has a figure, another figure of the same run to compare it with, and the \
             corpus.",
        );
        self.out.table("| | figure | beside, in the same run | corpus |", rows);
        Ok(self)
    }

    fn commands(mut self) -> Result<Self> {
        let (main, megabytes) = self.main()?;
        let caption = format!(
            "Whole commands over {main}, with the start of the process. *Beside signing* compares \
             processor times, where signing takes {} s. *Memory* is the peak of the process, with \
             the pages of files that it has mapped.",
            number(self.run.signing_seconds)
        );
        let rows: Vec<String> = self
            .run
            .jobs
            .iter()
            .map(|job| {
                let (wall, processor) = speeds(megabytes, job.spent);
                format!(
                    "| `{}` | {} | {} | {wall} | {processor} | {} | {} |",
                    job.command,
                    number(job.spent.seconds),
                    number(job.spent.processor_seconds),
                    self.signings(job.spent),
                    number(job.spent.peak_mb)
                )
            })
            .collect();
        self.out.heading("Commands");
        self.out.text(&caption);
        let head = "| command | s, wall | s, processor | MB/s, wall | MB/s, processor | beside \
            signing | memory, MB |";
        self.out.table(head, rows);
        let merging = self.run.merging;
        let merging = format!(
            "Merging eight segments of synthetic signatures into one of {} million postings \
             handles {} million postings per second of processor time. Writing one of the eight \
             segments handles {} million (`cento-tools merging`).",
            number(merging.postings as f64 / 1e6),
            number(merging.merged_millions),
            number(merging.written_millions)
        );
        self.out.text(&merging);
        Ok(self)
    }

    fn others(mut self) -> Result<Self> {
        self.out.heading("Beside others");
        let caption = format!(
            "cento beside plain tantivy, on {}. tantivy has cento's fingerprints as u64 terms, or \
             every run of five words as a term. It stops at document addresses, while cento's \
             answers have ids and measures. Every index is compacted into one segment and \
             searched in two rounds, and only the second counts. Times of searches are wall.",
            self.part()
        );
        self.out.text(&caption);
        let own = self.latencies(CENTO)?;
        let rows: Vec<String> = self
            .run
            .engines
            .iter()
            .map(|engine| {
                let spent = Spent {
                    seconds: engine.seconds,
                    processor_seconds: engine.processor_seconds,
                    peak_mb: 0.0,
                };
                let (wall, processor) = speeds(self.run.part.megabytes, spent);
                let searches = engine.latencies.map_or("| | | ".into(), |latencies| {
                    format!(
                        "| {} | {} | {} ",
                        pair(latencies.passage),
                        pair(latencies.document),
                        times(latencies.passage.p50_us / own.passage.p50_us)
                    )
                });
                let size = number(engine.index_mb);
                format!("| {} | {wall} | {processor} | {size} {searches}|", engine.name)
            })
            .collect();
        let head = "| engine | add, MB/s wall | add, MB/s processor | index, MB | passage, us | \
            document, us | passage beside cento |";
        self.out.table(head, rows);
        self.out.text(
            "Programs that remove near-duplicates of a resemblance of 0.7 \
             (`python/bench/compare.py`). The documents are synthetic, and a fifth are copies \
             with 0, 1, 2, 5 or 10 % of the words replaced. The programs beside cento use 128 \
             permutations. Recall counts the pairs whose exact resemblance is over the threshold.",
        );
        let rows: Vec<String> = self
            .run
            .neighbors
            .iter()
            .map(|row| match &row.outcome {
                Outcome::NotMeasured(why) => not_measured(&row.name, why, 5),
                Outcome::Measured(measured) => {
                    let recall: Vec<String> = measured
                        .recall
                        .iter()
                        .take(3)
                        .map(|recall| format!("{recall:.3}"))
                        .collect();
                    format!(
                        "| {} | {} | {} | {} | {} | {:.3} |",
                        row.name,
                        number(measured.mb_per_second),
                        number(measured.mb_per_processor_second),
                        number(measured.peak_mb),
                        recall.join(", "),
                        measured.precision
                    )
                }
            })
            .collect();
        let head = "| program | MB/s, wall | MB/s, processor | memory, MB | recall at 0, 1, 2 % \
            | precision |";
        self.out.table(head, rows);
        Ok(self)
    }

    fn scaling(mut self) -> Result<Self> {
        self.out.heading("Scaling");
        self.out.text(
            "**Size.** Synthetic text, not stored, in the segments that the writer's own merges \
             leave. The queries come from the smallest size, which every larger size contains. \
             *Cold*: nothing of the index is in memory, medians of 20 searches.",
        );
        let rows: Vec<String> = self
            .run
            .sizes
            .iter()
            .map(|row| match &row.outcome {
                Outcome::NotMeasured(why) => not_measured(&row.name, why, 7),
                Outcome::Measured(size) => {
                    let cold = match &size.cold {
                        Outcome::Measured(cold) => format!(
                            "open {}, search {} ms; {} kB read",
                            number(cold.open_ms),
                            number(cold.passage_ms),
                            number(cold.passage_read_kb)
                        ),
                        Outcome::NotMeasured(why) => format!("not measured here: {why}"),
                    };
                    format!(
                        "| {} | {}, {} | {}, {} | {} | {} | {} | {} | {cold} |",
                        row.name,
                        count(size.documents),
                        size.segments,
                        number(size.add.seconds),
                        number(size.add.processor_seconds),
                        number(size.add.peak_mb),
                        number(size.index_mb),
                        pair(size.latencies.passage),
                        pair(size.latencies.document)
                    )
                }
            })
            .collect();
        let head = "| text | documents, segments | add: s wall, s processor | memory, MB | \
            index, MB | passage, us | document, us | passage, cold |";
        self.out.table(head, rows);
        self.out.text(
            "**Opening and changing** these indexes: medians in ms wall, for one document. The \
             last column is the time of the disk alone.",
        );
        let rows: Vec<String> = self
            .run
            .opening
            .iter()
            .map(|row| {
                format!(
                    "| {} MB, {} documents | {} | {} | {} | {} |",
                    number(row.megabytes),
                    count(row.documents),
                    number(row.open_ms),
                    number(row.add_ms),
                    number(row.remove_ms),
                    number(row.sync_ms)
                )
            })
            .collect();
        let head = "| index | open | add, commit, find | remove, commit, miss | write and sync a \
            small file |";
        self.out.table(head, rows);
        let made = self.run.corpora.first().ok_or("the run has no corpus")?.megabytes;
        let segments = format!(
            "**Segments.** Synthetic text, {} MB, not merged: us wall, and the multiple of one \
             segment.",
            number(made)
        );
        self.out.text(&segments);
        let one = self.run.segments.first().ok_or("the run has no segments")?.latencies;
        let rows: Vec<String> = self
            .run
            .segments
            .iter()
            .map(|row| {
                format!(
                    "| {} | {} | {} | {} | {} |",
                    row.segments,
                    pair(row.latencies.passage),
                    times(row.latencies.passage.p50_us / one.passage.p50_us),
                    pair(row.latencies.document),
                    times(row.latencies.document.p50_us / one.document.p50_us)
                )
            })
            .collect();
        self.out.table("| segments | passage, us | | document, us | |", rows);
        let threads = format!(
            "**Threads.** `add` without texts, and searches for passages, on as many threads: \
             synthetic text, {} MB.",
            number(made)
        );
        self.out.text(&threads);
        let one = self.run.threads.first().ok_or("the run has no threads")?.searches_per_second;
        let rows: Vec<String> = self
            .run
            .threads
            .iter()
            .map(|row| {
                format!(
                    "| {} | {}, {} | {} | {} |",
                    row.threads,
                    number(row.add.seconds),
                    number(row.add.processor_seconds),
                    number(row.searches_per_second),
                    times(row.searches_per_second / one)
                )
            })
            .collect();
        self.out.table(
            "| threads | add: s wall, processor | searches per second, wall | beside one thread |",
            rows,
        );
        Ok(self)
    }

    fn service(mut self) -> Result<Self> {
        let (main, _) = self.main()?;
        let caption = format!(
            "The service has {main} and shares the cores with its clients. Synthetic text is \
             added in batches of 100 documents. Every answer is compared with the library's, and \
             a wrong answer ends the run. p50 and p99 are us wall. *Beside* is the p99 as a \
             multiple of the p99 of the same row when idle."
        );
        self.out.heading("The service");
        self.out.text(&caption);
        let p99 = |name: &str, connections: usize| {
            let idle = self.run.service.iter().find(|row| {
                row.name == name && row.connections == connections && row.state == "idle"
            });
            idle.map(|row| row.latency.p99_us)
        };
        let rows: Vec<String> = self
            .run
            .service
            .iter()
            .map(|row| {
                let beside = match row.state.as_str() {
                    "library" | "idle" => String::new(),
                    _ => p99(&row.name, row.connections)
                        .map_or(String::new(), |idle| times(row.latency.p99_us / idle)),
                };
                let connections =
                    if row.connections == 0 { "-".into() } else { row.connections.to_string() };
                format!(
                    "| {} | {} | {connections} | {} | {} | {beside} |",
                    if row.name == "whole" { "document" } else { &row.name },
                    row.state,
                    number(row.per_second),
                    pair(row.latency)
                )
            })
            .collect();
        self.out.table("| request | state | connections | per second | p50, p99 | beside |", rows);
        Ok(self)
    }

    fn options(mut self) -> Result<Self> {
        self.out.heading("Options");
        let (main, _) = self.main()?;
        let plain = self.search("--counts-only")?;
        let caption =
            format!("**Of a search**, {main}: us wall, and the multiple of the first row.");
        let rows: Vec<String> = self
            .run
            .searches
            .iter()
            .map(|row| {
                format!(
                    "| {} | {} | {} | {} | {} |",
                    if row.options.starts_with("--") {
                        format!("`{}`", row.options)
                    } else {
                        row.options.clone()
                    },
                    pair(row.latencies.passage),
                    times(row.latencies.passage.p50_us / plain.passage.p50_us),
                    pair(row.latencies.document),
                    times(row.latencies.document.p50_us / plain.document.p50_us)
                )
            })
            .collect();
        self.out.text(&caption);
        self.out.table("| options | passage, us | | document, us | |", rows);
        let caption = format!(
            "**Of an index**, {}, {} MB, with texts unless the row has `--no-text`. `add` is \
             processor time, searches (with `--counts-only`) are wall, and the multiple of the \
             first row is in brackets.",
            self.run.part.name,
            number(self.run.part.megabytes)
        );
        self.out.text(&caption);
        let first = self.run.settings.first().ok_or("the run has no settings")?.clone();
        let beside = |own: f64, first: f64| format!("{} ({})", number(own), times(own / first));
        let rows: Vec<String> = self
            .run
            .settings
            .iter()
            .map(|row| {
                format!(
                    "| {} | {} | {} | {} | {} |",
                    if row.options.starts_with("--") {
                        format!("`{}`", row.options)
                    } else {
                        row.options.clone()
                    },
                    beside(row.add.processor_seconds, first.add.processor_seconds),
                    beside(row.index_mb, first.index_mb),
                    beside(row.latencies.passage.p50_us, first.latencies.passage.p50_us),
                    beside(row.latencies.document.p50_us, first.latencies.document.p50_us)
                )
            })
            .collect();
        let head = "| `cento create` with | add, s | index, MB | passage, us | document, us |";
        self.out.table(head, rows);
        Ok(self)
    }

    fn counts(mut self) -> Self {
        self.out.heading("Instruction counts");
        self.out.text(
            "Times on a shared machine hide a change of a few percent, but instruction counts do \
             not. So `cento-tools counts` runs fixed operations on synthetic and on real texts \
             with valgrind (profile `release`), and compares the counts with `tools/counts.txt`. \
             More than 3 % is an error, in the gate too. `--write` records a change that you \
             intended.",
        );
        let cell = |at: usize| match self.run.counts.get(at) {
            Some(row) => format!("{} | {}", row.operation, count(row.instructions)),
            None => " | ".into(),
        };
        let half = self.run.counts.len().div_ceil(2);
        let rows: Vec<String> =
            (0..half).map(|at| format!("| {} | {} |", cell(at), cell(at + half))).collect();
        self.out.table("| operation | instructions | operation | instructions |", rows);
        self
    }
}

fn longer(out: &mut Markdown, kept: &[Kept]) {
    out.heading("Longer runs");
    out.text(
        "You cannot compare rows of this table, because each row comes from a run of its own, \
         with its commit and date, on a Linux machine with two shared cores and local disks. \
         *RFCs*: RFC 1 to 2600, 2,519 documents, 105 MB. *RFC copies*: these with other letters, \
         in pieces of 3.2 kB (`cento-tools repeat --pieces 3200 --letters`). *Licenses*: 37,148 \
         texts, 43 MB.",
    );
    let rows: Vec<String> = kept
        .iter()
        .map(|row| {
            format!(
                "| {} | {} | {} | {} | `{}` | {}, {} |",
                row.section, row.figure, row.corpus, row.time, row.command, row.commit, row.date
            )
        })
        .collect();
    let head = "| | figure | corpus | time is | command | commit, date |";
    out.table(head, rows);
}

fn not_measured(name: &str, why: &str, empty: usize) -> String {
    format!("| {name} | not measured here: {why} |{}", " |".repeat(empty - 1))
}

/// Returns MB a second by the clock, and MB a second of processor time.
fn speeds(megabytes: f64, spent: Spent) -> (String, String) {
    (number(megabytes / spent.seconds), number(megabytes / spent.processor_seconds))
}

fn pair(latency: Latency) -> String {
    format!("{}, {}", number(latency.p50_us), number(latency.p99_us))
}

fn times(ratio: f64) -> String {
    format!("{} x", number(ratio))
}

#[cfg(test)]
mod tests;
