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
        "The speed of cento and its cost in memory and disk, all but the last section from one \
         run. [QUALITY.md](QUALITY.md) describes the findings, [DESIGN.md](DESIGN.md) the floors \
         and the rejected layouts.",
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
            "*Wall* is time by the clock, *processor* that of all threads together. Read times \
             as ratios: other machines, and other work on this one, change all of them alike. \
             *Signing* is splitting the same texts into words and winnowing them on one thread, \
             which everything that reads text has to do. The scheme is the default, \
             `winnow(k=5,w=10)` over `words`, unless a row names another. Latencies are p50 and \
             p99 of one thread, warm, of the round with the least median of three, with at most \
             ten hits.",
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
                "| {name} | {wall} MB/s wall, {processor} a processor | {} the processor time of \
                 signing | {main} |",
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
        self.out.table("| | figure | beside, in the same run | corpus |", rows);
        Ok(self)
    }

    fn commands(mut self) -> Result<Self> {
        let (main, megabytes) = self.main()?;
        let caption = format!(
            "Whole commands over {main}, with the start of the process; signing takes {} s of \
             processor time. *Memory* is the peak of the process, with the pages of files that \
             it has mapped.",
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
            "Merging eight segments of made-up signatures into one of {} million postings: {} \
             million postings a second of processor time; writing one of the eight: {} million \
             (`cento-tools merging`).",
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
            "Plain tantivy, {}: every run of five words as a term, and cento's fingerprints as \
             u64 terms. Both stop at document addresses; cento's answers have ids and measures. \
             All are compacted into one segment. Two rounds search each of them; the first is not \
             counted. Times of searches are wall.",
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
        let head = "| engine | add, MB/s wall | processor | index, MB | passage, us | document, \
            us | passage beside cento |";
        self.out.table(head, rows);
        self.out.text(
            "Programs that remove near-duplicates of a resemblance of 0.7 \
             (`python/bench/compare.py`): made-up documents, a fifth of them copies with 0, 1, \
             2, 5 or 10 % of the words replaced; 128 permutations for the others. Recall is of \
             the pairs over the threshold by the exact resemblance of their texts.",
        );
        let rows: Vec<String> = self
            .run
            .neighbours
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
            "**Size.** Made-up text, not stored, in the segments that the writer's own merges \
             leave. The queries are from the smallest size, which every other one contains. \
             *Cold*: nothing of the index in memory, medians of 20 searches.",
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
        let head = "| text | documents, segments | add: s wall, processor | memory, MB | index, \
            MB | passage, us | document, us | passage, cold |";
        self.out.table(head, rows);
        self.out.text(
            "**Opening and changing** these indexes; one document, committed and \
            found; medians, ms wall.",
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
            "**Segments.** Made-up text, {} MB, not merged; us wall, and how many times those of \
             one segment.",
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
        self.out.table("| segments | passage | | document | |", rows);
        let threads = format!(
            "**Threads.** Made-up text, {} MB: `add` without texts, and searches for passages on \
             as many threads.",
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
            "| threads | add: s wall, processor | searches a second, wall | beside one thread |",
            rows,
        );
        Ok(self)
    }

    fn service(mut self) -> Result<Self> {
        let (main, _) = self.main()?;
        let caption = format!(
            "The clients and the service share the cores. It serves {main}; made-up text is \
             added in batches of 100 documents. Every answer is compared with the library's, and \
             a wrong one ends the run. p50 and p99 in us wall; *beside* is the p99 as a multiple \
             of the p99 of the same row when idle."
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
        self.out.table("| request | state | connections | a second | p50, p99 | beside |", rows);
        Ok(self)
    }

    fn options(mut self) -> Result<Self> {
        self.out.heading("Options");
        let (main, _) = self.main()?;
        let plain = self.search("--counts-only")?;
        let caption =
            format!("**Of a search**, {main}, us wall, and how many times the first row.");
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
        self.out.table("| options | passage | | document | |", rows);
        let caption = format!(
            "**Of an index**, {}, {} MB with texts unless the row says otherwise; times of `add` \
             are processor, of searches (with `--counts-only`) wall; in brackets how many times \
             the first row.",
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
            "Times on a shared machine hide a change of a few per cent; instruction counts do \
             not. `cento-tools counts` compares those of fixed operations, on made-up texts and \
             on real ones, with the recorded ones (`tools/counts.txt`, by valgrind, profile \
             `release`); more than 3 % is an error, in the gate too, and `--write` records an \
             intended change.",
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
        "Each row from a run of its own, on a Linux machine with two shared cores and local \
             disks, with its commit and date; figures of different rows are not to be compared. \
             *RFCs*: RFC 1 to 2600, 2,519 documents, 105 MB; *RFC copies*: these with other \
             letters, in pieces of 3.2 kB (`cento-tools repeat --pieces 3200 --letters`); \
             *licences*: 37,148 texts, 43 MB.",
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
    let head = "| | figure | corpus | time | command | commit, date |";
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
