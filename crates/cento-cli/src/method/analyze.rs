//! `cento method analyze` counts the documents of an index that reuse text.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;

use crate::join::{JoinArgs, stopped};
use crate::output::{self, Format, count};
use crate::progress::{Progress, stop_flag};
use crate::{Result, VerbOutcome};
use cento_collections::reuse::{
    CategoryStatistics, Pattern, ReuseOptions, ReuseStatistics, reuse_statistics,
};

/// Show how much of your collection is reused text, and its kinds.
///
/// cento counts the documents that share text in the six categories of Seo and Croft (2008). From a
/// sample of each category it determines the kind of shared text, the first of these:
///
/// alias: the whole document, with all words equal.
///
/// template: half of the shorter document or more, with at least three places, one in 60 words or
/// more, that differ by one to three words in either document, and these places have 60 % of the
/// differing words.
///
/// frame: all passages are in the first or last 15 % of both documents, and at least eight
/// documents have the shared fingerprints (by their median).
///
/// phrase: no passage of 40 words, and eight documents have these fingerprints. Or no passage at
/// all.
///
/// reuse: any other text.
///
/// The total weighs the sample of each category by its pairs.
#[derive(Debug, Args)]
pub struct Analyze {
    /// Directory of your index.
    index: PathBuf,
    #[command(flatten)]
    options: ReuseOptions,
    #[command(flatten)]
    join: JoinArgs,
    /// Output format.
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
}

const PATTERNS: [(Pattern, &str); 5] = [
    (Pattern::TextReuse, "reuse"),
    (Pattern::CommonPhrase, "phrase"),
    (Pattern::Template, "template"),
    (Pattern::Frame, "frame"),
    (Pattern::ExactAlias, "alias"),
];

impl Analyze {
    pub(super) fn run(self) -> Result {
        let stop = stop_flag();
        let searcher = self.join.searcher(&self.index)?;
        let (options, threads) = (self.options, self.join.threads());
        let progress = Progress::new(searcher.snapshot().documents(), "documents");
        let found =
            reuse_statistics(&searcher, options, threads, &stop, &mut |done, _| progress.set(done));
        progress.finish();
        let found = found?;
        match self.format {
            Format::Json => output::print_json(&found)?,
            Format::Human => print(&mut io::stdout().lock(), &found)?,
        }
        Ok(if found.total.pairs > 0 { VerbOutcome::Found } else { VerbOutcome::Nothing })
    }
}

fn print(out: &mut impl Write, statistics: &ReuseStatistics) -> io::Result<()> {
    let ReuseStatistics { documents, categories, total, stopped: stops, .. } = statistics;
    writeln!(out, "{} documents\n", count(*documents))?;
    write!(out, "{:5} {:>12} {:>10} {:>7} {:>9}", "", "pairs", "documents", "share", "siblings")?;
    let has_patterns = !total.patterns.is_empty();
    if has_patterns {
        PATTERNS.iter().try_for_each(|(_, name)| write!(out, " {name:>9}"))?;
    }
    writeln!(out)?;
    for row in categories.iter().chain([total]) {
        print_row(out, row, has_patterns)?;
    }
    if statistics.categories_estimated {
        writeln!(out, "\nCategories are estimates from fingerprints, without the texts")?;
    }
    if statistics.estimated {
        let what = "The kinds of the total are an estimate from samples, weighed by pairs; --limit";
        writeln!(out, "\n{what} sets their size")?;
    }
    let unclassified = categories.iter().map(|row| row.unclassified).sum::<u64>();
    if unclassified > 0 {
        let what = "differ in too many places to find their pattern";
        writeln!(out, "\n{} of the pairs looked at {what}", count(unclassified))?;
    }
    if let Some(said) = stopped(stops) {
        writeln!(out, "\n{said}")?;
    }
    Ok(())
}

fn print_row(out: &mut impl Write, row: &CategoryStatistics, has_patterns: bool) -> io::Result<()> {
    let name = row.category.map_or("total".into(), |category| format!("{category:?}"));
    write!(
        out,
        "{name:5} {:>12} {:>10} {:>5.1} % {:>9.2}",
        count(row.pairs),
        count(row.documents),
        100.0 * row.share,
        row.siblings
    )?;
    let all: u64 = row.patterns.iter().map(|(_, count)| count).sum();
    for (pattern, _) in PATTERNS.iter().filter(|_| has_patterns) {
        let of = row.patterns.iter().find(|(other, _)| other == pattern).map_or(0, |found| found.1);
        write!(out, " {:>7.0} %", 100.0 * of as f64 / all.max(1) as f64)?;
    }
    writeln!(out)
}
