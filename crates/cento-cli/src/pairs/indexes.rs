//! Pairs of the documents of indexes.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use super::output::Output;
use super::report::{joined_across, report_bytes_max, tell_cut};
use super::{Kind, OwnedEdge, Pairs, TOO_SHORT, columns, tip, write_network, write_passages};
use crate::failpoint::Failpoint;
use crate::list_format::{ListFormat, ListOut};
use crate::outfile::{listed, path_name};
use crate::output::{self, ListEnd, NotCompared, counted, named, percent};
use crate::progress::Progress;
use crate::report_args;
use crate::terminal::{Id, line, note};
use crate::{Result, VerbFailure, VerbOutcome};
use cento::Stop;
use cento::hash::hash_fields;
use cento::index::Snapshot;
use cento::search::Searcher;
use cento::{Error, PresetDefaults};
use cento_collections::links::{Connect, Links};
use cento_collections::most_similar::nothing_left;
use cento_collections::pairs::{self, DocumentPairs, PairOptions, PairRank, PairReport};
use cento_report::{
    DescribedLinks, DescribedPairs, IndexState, Network, PairsReport, Run, compared_units,
};

/// Options that only pairs of indexes have.
#[derive(Debug, Args)]
pub struct IndexArgs {
    /// Write one row for each shared passage instead of one for each pair: where the passage is in
    /// both documents, its text, and this many characters before and after it. Each part of the
    /// longer document is in one row per pair, next to the place of the shorter document that fits
    /// best. If only the shorter document repeats a text, the text is listed once. `cento families`
    /// lists all its places. `passages_complete` says whether all passages of the pair were found.
    /// The index must store texts.
    #[arg(long, value_name = "N", conflicts_with_all = ["graph", "reports", "resume"])]
    pub(super) context: Option<usize>,
    /// Write to this file instead of standard output, so that you can resume an interrupted run. A
    /// file whose name ends in .gz or .zst is compressed. With --context, a name that ends in
    /// .parquet makes a Parquet file, and an interrupted run starts again.
    #[arg(long, value_name = "FILE", conflicts_with = "reports")]
    pub(super) out: Option<PathBuf>,
    /// Resume the interrupted run that wrote to --out. Use the same index and options.
    #[arg(long, requires = "out")]
    resume: bool,
}

/// The pairs of a report, unless --limit says otherwise.
pub(super) const REPORT_PAIRS: usize = 200;

impl Pairs {
    /// Finds the pairs of the documents of indexes.
    pub(super) fn run_indexes(self, stop: &Stop) -> Result {
        if let (Some(out), None) = (&self.indexes.out, self.indexes.context) {
            self.format.check_name(out)?;
        }
        let network = self.graph.as_deref().map(Network::of_file).transpose()?;
        let searcher = self.join.searcher_of_pairs(&self.paths, &self.options.scope()?)?;
        let against = self.against.as_deref().map(|path| self.join.searcher(path)).transpose()?;
        // A report begins with the best pairs, and shows their passages.
        let is_report = self.report.is_asked();
        let mut options = self.options.clone();
        // An edge of the network needs a passage, if the index stores texts.
        let stores_texts = |searcher: &Searcher| searcher.snapshot().config().store_text;
        let has_texts = stores_texts(&searcher) && against.as_ref().is_none_or(stores_texts);
        options.passages |= is_report || (network.is_some() && has_texts);
        options.limit = options.limit.or(is_report.then_some(REPORT_PAIRS));
        options.passages |= self.indexes.context.is_some();
        let found = self.pairs(&searcher, against.as_ref(), &options, stop);
        let (options, defaults) = (found.options(), found.defaults());
        output::tell_defaults(defaults);
        if let Some(context) = self.indexes.context {
            return self.run_passages(context, &options, &searcher, against.as_ref(), stop);
        }
        if let Some(rank) = options.rank {
            let best = (rank, defaults);
            return self.run_ranked(best, network, &searcher, against.as_ref(), &options, stop);
        }
        let (a, b) = (searcher.snapshot(), against.as_ref().unwrap_or(&searcher).snapshot());
        let run = self.identify(a, b, &options);
        let mut out = Output::open(self.indexes.out.as_deref(), self.indexes.resume, run)?;
        if self.format.is_table() && out.out.is_empty() {
            let begun = ListOut::new(&mut out.out, self.format, columns(Kind::Indexes));
            begun.and_then(|mut list| list.flush()).map_err(|e| out.failure(e))?;
        }
        let mut edges = Vec::new();
        let end = pairs::document_count(&searcher);
        let progress = Progress::new(end, "documents");
        let mut pause = Failpoint::at("document");
        let mut found = found.documents(out.checkpoint.next..end).by_document();
        let result = found.by_ref().try_for_each(|document| -> Result<()> {
            // Checkpoints fall between documents, so the pairs of a document are written completely
            // or not at all.
            let DocumentPairs { next, pairs, .. } = document?;
            let reports = pairs.into_iter().map(|pair| pair.report(a, b));
            let reports = reports.collect::<cento::Result<Vec<_>>>()?;
            out.checkpoint.pairs += reports.len() as u64;
            write_pairs(&mut out.out, &reports, self.format)?;
            if network.is_some() {
                let against = self.against.as_deref();
                edges.extend(network_edges(&reports, against));
            }
            out.checkpoint.next = next;
            progress.set(next);
            out.save_sometimes()?;
            pause.reached();
            Ok(())
        });
        progress.finish();
        match result {
            Err(VerbFailure::Output(error)) => return Err(out.failure(error)),
            Err(error) => {
                out.give_up()?;
                let is_stopped = matches!(error, VerbFailure::Cento(Error::Cancelled));
                if is_stopped && self.indexes.out.is_some() {
                    note!("cento: repeat the command with --resume to continue from here");
                }
                return Err(error);
            }
            Ok(()) => {}
        }
        let summary = found.summary();
        let pairs = out.finish()?;
        if let (Some(path), Some(network)) = (&self.graph, network) {
            write_network(path, network, edges, &DescribedLinks::default())?;
        }
        self.tell_without_field(summary);
        let searched = against.as_ref().unwrap_or(&searcher);
        self.join.tell_stopped(searched, self.options.max_df, stop)?;
        if self.format.is_human() {
            note!("{}", output::of_documents(pairs, "pair", a.documents()));
        }
        Ok(if pairs > 0 { VerbOutcome::Found } else { VerbOutcome::Nothing })
    }

    /// Returns the documents that are in no pair because nothing in the text can be compared.
    /// Documents of a second index are prefixed with the index.
    fn nothing_left(
        searcher: &Searcher,
        place: Option<&Path>,
        stop: &Stop,
    ) -> cento::Result<Vec<NotCompared>> {
        let analyzer = &searcher.snapshot().config().analyzer;
        let left = nothing_left(searcher, stop)?.into_iter();
        let named = left.map(|left| {
            let mut named = NotCompared::nothing_left(left, analyzer);
            if let Some(place) = place {
                named.name = output::named(&named.name, Some(&place.display().to_string()));
            }
            named
        });
        Ok(named.collect())
    }

    /// Prepares the search for pairs.
    pub(super) fn pairs(
        &self,
        searcher: &Searcher,
        against: Option<&Searcher>,
        options: &PairOptions,
        stop: &Stop,
    ) -> pairs::Pairs {
        let found = pairs::pairs(searcher, options).threads(self.join.threads()).stop(stop);
        against.into_iter().fold(found, pairs::Pairs::against)
    }

    /// Shows the best pairs first.
    fn run_ranked(
        &self,
        (rank, defaults): (PairRank, Option<PresetDefaults>),
        network: Option<Network>,
        searcher: &Searcher,
        against: Option<&Searcher>,
        options: &PairOptions,
        stop: &Stop,
    ) -> Result {
        let (a, b) = (searcher.snapshot(), against.unwrap_or(searcher).snapshot());
        let progress = Progress::new(pairs::document_count(searcher), "documents");
        let mut best = self.pairs(searcher, against, options, stop).progress(progress.setter());
        best = best.connecting(match network {
            Some(_) => Connect::Edges,
            None if self.report.is_asked() => Connect::Clusters,
            None => Connect::Nothing,
        });
        let pairs = best.by_ref().collect::<cento::Result<Vec<_>>>();
        progress.finish();
        let (pairs, total, summary) = (pairs?, best.total(), best.summary());
        let out = io::BufWriter::new(io::stdout().lock());
        let mut out = ListOut::new(out, self.format, columns(Kind::Indexes))?;
        let reports = pairs.into_iter().map(|pair| pair.report(a, b));
        let reports = reports.collect::<cento::Result<Vec<_>>>()?;
        let mut is_apart = false;
        for pair in &reports {
            if let ListOut::Human(out) = &mut out
                && !is_apart
                && pair.too_short == Some(true)
            {
                line!(out, "{TOO_SHORT}")?;
                is_apart = true;
            }
            out.write(pair, |out| print(out, pair))?;
        }
        let end = ListEnd::new(reports.len(), total, &[]).with_defaults(defaults);
        if let ListOut::Json(out) = &mut out {
            end.write(out)?;
        }
        out.flush()?;
        if let (Some(path), Some(network)) = (&self.graph, network) {
            let against = self.against.as_deref();
            let links = self.links(best.links(), a, b)?;
            let links = match against {
                Some(path) => {
                    let place = path.display().to_string();
                    links.rename_second(|name| named(name, Some(&place)))
                }
                None => links,
            };
            write_network(path, network, network_edges(&reports, against).collect(), &links)?;
        }
        if self.report.is_asked() {
            let found = DescribedPairs {
                total,
                documents_without_field: summary.documents_without_field,
                ..DescribedPairs::default()
            };
            let mut not_compared = Pairs::nothing_left(searcher, None, stop)?;
            if let Some(other) = against {
                not_compared.extend(Pairs::nothing_left(other, self.against.as_deref(), stop)?);
            }
            let links = self.links(best.links(), a, b)?;
            let found = DescribedPairs { not_compared, links, ..found };
            self.report_indexes(rank, options, reports, found, searcher, against)?;
        }
        self.tell_without_field(summary);
        self.join.tell_stopped(against.unwrap_or(searcher), self.options.max_df, stop)?;
        if self.format.is_human() {
            note!("{}", output::of_documents(total, "pair", a.documents()));
        }
        if let Some(said) = end.said("pairs", tip(options, total)) {
            note!("{said}");
        }
        Ok(if total > 0 { VerbOutcome::Found } else { VerbOutcome::Nothing })
    }

    /// Reads the names of the documents that pairs connect.
    fn links(&self, links: &Links, a: &Snapshot, b: &Snapshot) -> cento::Result<DescribedLinks> {
        DescribedLinks::read(links, a, b, &self.options.scope()?)
    }

    /// Writes the report of pairs of indexes.
    fn report_indexes(
        &self,
        rank: PairRank,
        options: &PairOptions,
        pairs: Vec<PairReport>,
        found: DescribedPairs,
        searcher: &Searcher,
        against: Option<&Searcher>,
    ) -> cento::Result<()> {
        let snapshot = searcher.snapshot();
        let index = IndexState {
            place: report_args::listed(&self.paths),
            generation: Some(snapshot.generation().to_string()),
            documents: snapshot.documents(),
        };
        let rank = rank.name();
        let mut run =
            Run { index: Some(index), ..self.report.run("pairs", &snapshot.config().analyzer)? }
                .with_options(&self.options)
                .with_options(&options.effective_thresholds())
                .with("limit", self.options.limit.unwrap_or(REPORT_PAIRS))
                .with("rank", rank);
        if let Some(against) = &self.against {
            run = run.with_names("against", against.display(), "another index");
        }
        if let Some((paths, count)) = report_args::listed_and_counted(&self.join.boilerplate) {
            run = run.with_names("boilerplate", paths, count);
        }
        let all = pairs.len();
        let pairs = pairs.into_iter().map(|pair| {
            let resemblance = pair.similarity.resemblance;
            (pair, resemblance)
        });
        let joined = match (against, &self.against) {
            (Some(other), Some(path)) => {
                let place = path.display().to_string();
                let scope = self.options.scope()?;
                let bytes_max = report_bytes_max();
                let pairs = pairs.collect();
                joined_across(pairs, found.links, [searcher, other], &place, &scope, bytes_max)?
            }
            _ => DescribedPairs {
                links: found.links,
                ..DescribedPairs::read(
                    pairs.collect(),
                    searcher,
                    &self.options.scope()?,
                    Stop::NEVER,
                    report_bytes_max(),
                )?
            },
        };
        tell_cut(joined.pairs.len(), all);
        let of_other = against.map_or(0, |other| other.snapshot().documents());
        let joined = DescribedPairs {
            compared: snapshot.documents() + of_other - found.not_compared.len() as u64,
            not_compared: found.not_compared,
            total: found.total,
            documents_without_field: found.documents_without_field,
            limit_option: tip(options, found.total),
            measure: format!(
                "resemblance, of all {} in either document the share that is in both; by {rank}",
                compared_units(&snapshot.config().scheme, &snapshot.config().analyzer)
            ),
            ..joined
        };
        self.report.write_pairs(&PairsReport::new(run, joined, self.anonymous))
    }

    /// Returns a number that identifies the output. Different indexes or options give different
    /// numbers.
    fn identify(&self, a: &Snapshot, b: &Snapshot, options: &PairOptions) -> u64 {
        // Threads do not change the output. Boilerplate is identified by file name.
        hash_fields(&BTreeMap::from([
            ("a", a.generation().to_string()),
            ("b", b.generation().to_string()),
            // Comparing an index with itself by `--against` writes every pair twice, in either
            // direction.
            ("against", self.against.is_some().to_string()),
            ("options", serde_json::to_string(options).expect("they are numbers and texts")),
            ("format", self.format.name().to_owned()),
            ("boilerplate", listed(self.join.boilerplate.iter().map(|path| path_name(path)))),
        ]))
    }
}

/// Returns the edge of a pair. `against` is the second index, and part of the name, because an id
/// can occur in both indexes.
fn edge(pair: &PairReport, against: Option<&Path>) -> OwnedEdge {
    let against = against.map(|path| path.display().to_string());
    let a = named(&pair.a, pair.index_a.as_deref());
    let b = named(&pair.b, pair.index_b.as_deref().or(against.as_deref()));
    (a, b, pair.similarity.resemblance)
}

fn network_edges<'a>(
    pairs: &'a [PairReport],
    against: Option<&'a Path>,
) -> impl Iterator<Item = OwnedEdge> + 'a {
    let pairs = pairs.iter().filter(|pair| pair.is_edge());
    pairs.map(move |pair| edge(pair, against))
}

/// Writes pairs to an output that has the column names already.
fn write_pairs(out: &mut impl Write, pairs: &[PairReport], format: ListFormat) -> io::Result<()> {
    if pairs.is_empty() {
        return Ok(());
    }
    let mut list = ListOut::continued(UnflushedWriter(out), format, columns(Kind::Indexes));
    for pair in pairs {
        list.write(pair, |out| print(out, pair))?;
    }
    list.flush()
}

/// A writer that ignores flushes between rows, because every flush makes a compressed file larger.
/// A checkpoint flushes the buffer.
struct UnflushedWriter<W>(W);

impl<W: Write> Write for UnflushedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn print(out: &mut impl Write, pair: &PairReport) -> io::Result<()> {
    let category = pair.category.map_or("--".into(), |category| format!("{category:?}"));
    let share = |share| output::share(share, pair.similarity.exact);
    let score = pair.score.map_or(String::new(), |score| format!("{:>7} ", percent(score)));
    line!(
        out,
        "{score}{:>8} {:>8} {:>8} {:>6} {category}  {}  {}",
        share(pair.similarity.containment_of_a),
        share(pair.similarity.containment_of_b),
        share(pair.similarity.resemblance),
        pair.overlap,
        Id(&named(&pair.a, pair.index_a.as_deref())),
        Id(&named(&pair.b, pair.index_b.as_deref()))
    )?;
    if let Some(weighted) = &pair.weighted {
        line!(
            out,
            "{:>8} {:>8} {:>8} weighted",
            percent(weighted.containment_of_a),
            percent(weighted.containment_of_b),
            percent(weighted.resemblance)
        )?;
    }
    if let Some(tokens) = pair.passage_tokens {
        line!(out, "    {} in passages", counted(tokens.into(), "word"))?;
    }
    write_passages(out, pair)
}
