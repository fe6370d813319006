//! Pairs of files: the pairwise test of Finkel et al. (2002), section 2.6.

use std::io::{self, Write};
use std::path::Path;

use clap::Args;
use serde::Serialize;

use super::indexes::REPORT_PAIRS;
use super::known::KnownIndex;
use super::report::{report_bytes_max, tell_cut};
use super::sides::{FilePair, Sides};
use super::{Kind, Pairs, TOO_SHORT, columns, tip, write_network, write_passages};
use crate::boilerplate::{NamedBoilerplate, UnreadBoilerplate, read_noting};
use crate::collection::{CollectionArgs, InputOutcomes, TemporaryIndex, tell_not_compared};
use crate::left_out::LeftOuts;
use crate::list_format::ListOut;
use crate::messages::Messages;
use crate::output::{self, ListEnd, NotCompared, counted, percent};
use crate::progress::{Progress, summary};
use crate::report_args;
use crate::terminal::{Id, line, note, tell};
use crate::{Result, VerbOutcome};
use cento::index::{Config, Index};
use cento::search::Searcher;
use cento::{Error, Stop};
use cento_api::Sources;
use cento_collections::links::Connect;
use cento_collections::most_similar::{MostSimilar, SymmetricPair};
use cento_collections::pairs::{self, JoinSummary, PairOptions, PairReport};
use cento_collections::submissions::{ComparedSubmissions, Submissions};
use cento_report::{DescribedLinks, DescribedPairs, Network, PairsReport, Run, shown_of};

/// Options that only pairs of files have.
#[derive(Debug, Args)]
pub struct FileArgs {
    #[command(flatten)]
    collection: CollectionArgs,
    /// Then add your files to the index that they were compared with (--against), all in one
    /// commit. Documents that the index already has are not added twice.
    #[arg(long, requires = "against")]
    pub(super) add: bool,
    /// Also show which documents the pairs connect, including pairs that are not shown. With
    /// --group-by: which groups.
    #[arg(long)]
    clusters: bool,
}

/// The line below shares that may be too low.
const INCOMPLETE: &str =
    "* the search for passages was cut short: more of the new text may be known or shared";

#[derive(Serialize)]
struct PairLine<'a> {
    #[serde(flatten)]
    pair: &'a SymmetricPair,
    /// The most similar files of two directories.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<Vec<FilePair>>,
    /// The number of pairs of their files with something in common.
    #[serde(skip_serializing_if = "Option::is_none")]
    files_total: Option<usize>,
}

impl Pairs {
    /// Finds the most similar pairs of files, and of files and the documents of an index.
    pub(super) fn run_files(self, stop: &Stop) -> Result {
        let network = self.graph.as_deref().map(Network::of_file).transpose()?;
        if self.files.clusters && self.format.is_table() {
            let what = "a table has rows of one kind; write the clusters with --graph, where they \
                        are numbers of documents, or use --format json";
            return Err(Error::argument("clusters", what).into());
        }
        let of_index = self.against.as_deref().filter(|path| !is_of_files(path));
        if let (Some(path), None, true) = (&self.against, of_index, self.files.add) {
            let path = path.display();
            let what = format!(
                "--add adds your files to an index, and {path} is none; make one with `cento add \
                 x.idx {path}` and name it with --against, or leave out --add"
            );
            return Err(Error::argument("add", what).into());
        }
        let known = of_index.map(|path| KnownIndex::open(path, self.files.add)).transpose()?;
        if known.is_some() && self.files.collection.is_config_given() {
            let what = "the index given by --against signs the files as its own documents; omit \
                        --for, --scheme, --analyzer and --frequencies";
            return Err(Error::argument("against", what).into());
        }
        let collection =
            self.files.collection.create(&self.paths, known.as_ref().map(KnownIndex::config))?;
        let index = &collection.index;
        let mut unread = UnreadBoilerplate::default();
        let named = NamedBoilerplate::of(&self.join.boilerplate)?;
        let boilerplate = read_noting(&named.paths, index.config(), &mut unread)?;
        let mut not_compared = unread.list;
        // `false`, because the comparison reports documents without text.
        let added = collection.read(false, stop)?;
        let InputOutcomes { left_out, warnings, .. } = added;
        let documents_min = if self.against.is_some() { 1 } else { 2 };
        check_enough(added.documents, documents_min)?;
        not_compared.extend(added.not_compared);
        // Removed after the comparison.
        let archive = self.archive(known.is_none(), index.config())?;
        let known = match &archive {
            Some(archive) => {
                not_compared.extend(archive.read(true, stop)?.not_compared);
                Some(KnownIndex::of_files(&archive.index, self.against.as_deref())?)
            }
            None => known,
        };
        let new = index.snapshot()?;
        let mut options = self.options.clone();
        // An edge of the network needs a passage, if the index stores texts.
        let has_edges = network.is_some() || self.files.clusters || self.report.is_asked();
        options.passages |= has_edges && index.config().store_text;
        if known.is_some() {
            // Passages tell where the text of a new document comes from.
            options.passages = index.config().store_text;
            options.limit = options.limit.or(Some(REPORT_PAIRS));
        }
        let submissions = Submissions::new(&new, &options).threads(self.join.threads()).stop(stop);
        let submissions = named.add_auto_of(submissions.without(boilerplate))?;
        let submissions = submissions.connecting(match network {
            Some(_) => Connect::Edges,
            None if has_edges => Connect::Clusters,
            None => Connect::Nothing,
        });
        let submissions = match &known {
            Some(known) => known.compared_with(submissions)?.with_sources(true),
            None => submissions,
        };
        let searches = if known.is_some() { 2 } else { 1 };
        let documents = pairs::document_count(&Searcher::new(new.clone()));
        let progress = Progress::new(searches * documents, "searches");
        let compared = submissions.progress(progress.setter()).compare();
        progress.finish();
        let ComparedSubmissions { searcher, most_similar: found, sources, .. } = compared?;
        self.tell_without_field(found.summary);
        if let Some(said) = estimated(found.summary) {
            note!("cento: {said}");
        }
        let messages = Messages::default();
        for left in &found.not_compared {
            let analyzer = &searcher.snapshot().config().analyzer;
            let left = NotCompared::nothing_left(left.clone(), analyzer);
            messages.tell(&left.name, &left.reason);
            not_compared.push(left);
        }
        messages.finish();
        if found.compared < 2 {
            tell_not_compared(&not_compared);
        }
        check_enough(found.compared, documents_min)?;
        let (all, scope) = (searcher.snapshot(), self.options.scope()?);
        let links = DescribedLinks::read(&found.links, all, all, &scope)?;
        let is_bounded = self.files.clusters && links.examined < links.total;
        let end = ListEnd::new(found.pairs.len(), found.total, &not_compared)
            .with_examined_pairs(is_bounded.then_some(links.examined))
            .with_left_out(left_out.list())
            .with_warnings(&warnings)
            .with_estimated_pairs(found.summary.estimated_pairs)
            .with_defaults(found.defaults);
        output::tell_defaults(found.defaults);
        let mut sides = Sides::new(&searcher);
        self.write(&found, &links, &mut sides, &sources, &end)?;
        if self.format.is_human() {
            output::print_warnings(&mut io::stdout().lock(), &warnings)?;
        } else if self.format.is_table() {
            warnings
                .iter()
                .for_each(|NotCompared { name, reason }| tell!("cento: {name} {reason}"));
        }
        let MostSimilar { pairs: best, .. } = &found;
        if self.format.is_human() && found.total == 0 {
            note!("{}", output::of_documents(0, "pair", found.compared));
        }
        if let (Some(path), Some(network)) = (&self.graph, network) {
            let edges = best.iter().map(|found| &found.pair).filter(|pair| pair.is_edge());
            let edges = edges.map(|pair| {
                let [a, b] = names(pair);
                (a, b, pair.similarity.resemblance)
            });
            write_network(path, network, edges.collect(), &links)?;
        }
        let is_empty = best.is_empty() && found.total == 0;
        let is_missing = tell_not_compared(&not_compared);
        if self.report.is_asked() {
            let run = self.described(&searcher, &found.options, &left_out)?;
            self.report_files(run, &searcher, found, not_compared, warnings, sources)?;
        }
        if let Some(known) = known {
            let place = known.place.clone();
            if let Some(report) = known.add(&new, stop)? {
                note!("cento: {place}: {}", summary(&report));
            }
        }
        Ok(VerbOutcome::of_inputs(is_missing, !is_empty))
    }

    /// Creates the index of the earlier files, if the new files are compared with files. It
    /// has the configuration of the new files, so that signatures are comparable.
    fn archive(
        &self,
        is_of_files: bool,
        config: &Config,
    ) -> cento::Result<Option<TemporaryIndex<'_>>> {
        let against = self.against.as_ref().filter(|_| is_of_files);
        let paths = against.map(std::slice::from_ref);
        paths.map(|paths| self.files.collection.create(paths, Some(config))).transpose()
    }

    /// Returns the run for the foot of the report.
    fn described(
        &self,
        searcher: &Searcher,
        options: &PairOptions,
        left_out: &LeftOuts,
    ) -> cento::Result<Run> {
        let analyzer = &searcher.snapshot().config().analyzer;
        let mut run = self.report.run("pairs", analyzer)?;
        let limit = options.limit.unwrap_or(PairOptions::MOST_SIMILAR);
        run = run.with("scheme", &searcher.snapshot().config().scheme).with("analyzer", analyzer);
        run = run.with_options(options).with("limit", limit);
        if let Some((count, names)) = left_out.summary() {
            run = run.with_names("skipped by name", format!("{count}: {names}"), count);
        }
        if self.files.collection.grouping.is_grouped() {
            run = run.with("by", self.files.collection.grouping.by());
        }
        if let Some(against) = &self.against {
            run = run.with_names("against", against.display(), "an index");
        }
        if let Some((paths, count)) = report_args::listed_and_counted(&self.join.boilerplate) {
            run = run.with_names("boilerplate", paths, count);
        } else if searcher.boilerplate().is_some() {
            run = run.with("boilerplate", "handouts");
        }
        Ok(run)
    }

    /// Writes the report, with the passages of the shown pairs.
    fn report_files(
        &self,
        run: Run,
        searcher: &Searcher,
        found: MostSimilar,
        not_compared: Vec<NotCompared>,
        warnings: Vec<NotCompared>,
        sources: Vec<Sources>,
    ) -> cento::Result<()> {
        let (all, snapshot) = (found.pairs.len(), searcher.snapshot());
        let scope = self.options.scope()?;
        let links = DescribedLinks::read(&found.links, snapshot, snapshot, &scope)?;
        let config = searcher.snapshot().config();
        let pairs = found.pairs.into_iter().map(|found| (found.pair, found.symmetric));
        let joined = DescribedPairs {
            compared: found.compared,
            measure: cento_report::symmetric_measure(&config.scheme, &config.analyzer),
            histogram: Some(found.histogram),
            total: found.total,
            limit_option: tip(&found.options, found.total),
            links,
            not_compared,
            warnings,
            estimated_pairs: found.summary.estimated_pairs,
            sources,
            ..DescribedPairs::read(
                pairs.collect(),
                searcher,
                &self.options.scope()?,
                Stop::NEVER,
                report_bytes_max(),
            )?
        };
        tell_cut(joined.pairs.len(), all);
        self.report.write_pairs(&PairsReport::new(run, joined, self.anonymous))
    }

    fn write(
        &self,
        MostSimilar { pairs: best, total, options, .. }: &MostSimilar,
        links: &DescribedLinks,
        sides: &mut Sides<'_>,
        sources: &[Sources],
        end: &ListEnd<'_>,
    ) -> Result<()> {
        let out = io::BufWriter::new(io::stdout().lock());
        let mut out = ListOut::new(out, self.format, columns(Kind::Files))?;
        if let ListOut::Human(out) = &mut out
            && !best.is_empty()
        {
            let any = |is: fn(&PairReport) -> bool| best.iter().any(|found| is(&found.pair));
            let score = if any(|pair| pair.score.is_some()) { "  score " } else { "" };
            line!(out, "{score}{:>8} {:>6} {:>6}  documents", "share", "words", "words")?;
        }
        let mut is_apart = false;
        for found in best {
            let SymmetricPair { pair, .. } = found;
            if let ListOut::Human(out) = &mut out
                && !is_apart
                && pair.too_short == Some(true)
            {
                line!(out, "{TOO_SHORT}")?;
                is_apart = true;
            }
            let is_grouped = self.files.collection.grouping.is_grouped();
            let files = is_grouped.then(|| sides.files(pair)).transpose()?;
            let (files, files_total) = files.unzip();
            let shown = PairLine { pair: found, files, files_total };
            // Passages may exist only for shares and edges, so they are shown only on request.
            let has_passages = self.options.needs_passages();
            out.write(&shown, |out| print(out, &shown, has_passages))?;
        }
        if self.files.clusters {
            let pairs = best.iter().map(|found| &found.pair);
            let pairs = pairs.filter(|pair| pair.is_edge());
            for cluster in sides.clusters(pairs, links, &self.options.scope()?)? {
                out.write(&cluster, |out| {
                    let members = cluster.members.join("  ");
                    line!(out, "cluster {}, {}: {members}", cluster.cluster, cluster.size)
                })?;
            }
            if let (ListOut::Human(out), Some(said)) = (&mut out, links.clusters_of()) {
                line!(out, "{said}")?;
            }
        }
        self.write_sources(&mut out, sources)?;
        if let ListOut::Json(out) = &mut out {
            end.write(out)?;
        }
        out.flush()?;
        if let Some(said) = end.said("pairs", tip(options, *total)) {
            note!("{said}");
        }
        Ok(())
    }

    /// Writes where the text of each new document comes from.
    fn write_sources(&self, out: &mut ListOut<impl Write>, sources: &[Sources]) -> io::Result<()> {
        if sources.is_empty() || self.format.is_table() {
            return Ok(());
        }
        if let ListOut::Human(out) = out {
            line!(out, "")?;
            line!(
                out,
                "{:>6} {:>7}  {:>7} {:>7} {:>11}",
                "words",
                "new",
                "known",
                "shared",
                "excluded"
            )?;
        }
        for one in sources {
            out.write(one, |out| print_sources(out, one))?;
        }
        if let ListOut::Human(out) = out
            && sources.iter().any(|one| !one.complete)
        {
            line!(out, "{INCOMPLETE}")?;
        }
        Ok(())
    }
}

/// Returns whether there are files, and no index.
fn is_of_files(path: &Path) -> bool {
    path.exists() && !Index::exists(path)
}

/// Describes pairs compared only by fingerprints. `None` if all texts were compared.
fn estimated(summary: JoinSummary) -> Option<String> {
    let estimated = summary.estimated_pairs;
    (estimated > 0).then(|| {
        format!(
            "{} with documents of the index {} compared by fingerprints alone: others resemble the \
             new documents more",
            counted(estimated, "pair"),
            if estimated == 1 { "was" } else { "were" }
        )
    })
}

/// Returns the names of both documents of a pair, prefixed with the index, if any.
fn names(pair: &PairReport) -> [String; 2] {
    [(&pair.a, &pair.index_a), (&pair.b, &pair.index_b)]
        .map(|(id, index)| output::named(id, index.as_deref()))
}

/// Writes what a document has from where, for people.
fn print_sources(out: &mut impl Write, one: &Sources) -> io::Result<()> {
    let share = |tokens: u32| percent(f64::from(tokens) / f64::from(one.tokens.max(1)));
    let (boilerplate, tokens, name) = (share(one.boilerplate), one.tokens, Id(&one.name));
    let mark = if one.complete { ' ' } else { '*' };
    let [new, known, shared] = [one.new, one.known, one.shared].map(share);
    line!(out, "{tokens:>6} {new:>7}{mark} {known:>7} {shared:>7} {boilerplate:>11}  {name}")
}

fn print(
    out: &mut impl Write,
    PairLine { pair, files, files_total }: &PairLine<'_>,
    has_passages: bool,
) -> io::Result<()> {
    let SymmetricPair { pair, symmetric, .. } = pair;
    let score = pair.score.map_or(String::new(), |score| format!("{:>7} ", percent(score)));
    let sizes = format!("{:>6} {:>6}", pair.tokens_a, pair.tokens_b);
    let ([a, b], alike) = (names(pair), output::share(*symmetric, pair.similarity.exact));
    line!(out, "{score}{alike:>8} {sizes}  {}  {}", Id(&a), Id(&b))?;
    for FilePair { a, b, overlap } in files.iter().flatten() {
        line!(out, "    {overlap:>6}  {a}  {b}")?;
    }
    let (shown, total) = (files.as_ref().map_or(0, Vec::len), files_total.unwrap_or(0));
    if let Some(said) = shown_of(shown as u64, total as u64, "pairs of files", "") {
        line!(out, "    {said}")?;
    }
    if has_passages { write_passages(out, pair) } else { Ok(()) }
}

/// Refuses to compare fewer documents.
fn check_enough(documents: u64, least: u64) -> cento::Result<()> {
    if documents >= least {
        return Ok(());
    }
    let least = if least == 1 { "one is" } else { "two are" };
    let what = format!(
        "{} to compare; at least {least} needed: name more files, or the folder that they are in",
        counted(documents, "document")
    );
    Err(Error::argument("paths", what))
}
