//! An index has the settings of its preset, keeps the preset, and applies the defaults in later
//! calls.

use std::path::Path;

use cento::index::{Document, Index, WriterOptions};
use cento::search::{Goal, Query, Rank, Searcher};
use cento::text::analyzer::Analyzer;
use cento::{
    AddIndexesOptions, Config, Error, Preset, PresetDefaults, PresetRank, Snapshot, Thresholds,
};
use cento_collections::cluster::{ClusterOptions, clusters};
use cento_collections::dedup::{Dedup, DedupOptions};
use cento_collections::pairs::{PairOptions, pairs};

use crate::common::words;

/// Returns the configuration of a preset, with a language for programs.
fn config(preset: Preset) -> Config {
    if preset == Preset::Code {
        let config = Config::new(preset.scheme(), "code(language=java)", true).unwrap();
        return config.with_preset(Some(preset));
    }
    Config::preset(preset, true).unwrap()
}

fn filled(index: Index, first: u64) -> Index {
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    for number in first..first + 3 {
        writer.add(Document::new(format!("d{number}"), words(number, 60))).unwrap();
    }
    writer.finish().unwrap();
    index
}

fn searcher(config: Config) -> Searcher {
    Searcher::new(filled(Index::in_memory(config).unwrap(), 0).snapshot().unwrap())
}

#[test]
fn an_index_keeps_its_preset_and_stats_show_it() {
    for &preset in Preset::ALL {
        let dir = tempfile::tempdir().unwrap();
        let made = config(preset);
        let (scheme, analyzer) = (made.scheme.to_string(), made.analyzer.to_string());
        assert_eq!(scheme, cento::scheme::parse(preset.scheme()).unwrap().to_string(), "{preset}");
        // The preset for programs needs a language.
        let named = preset.analyzer().parse::<Analyzer>();
        let named = named.map_or_else(|_| preset.analyzer().to_owned(), |named| named.to_string());
        assert!(analyzer.starts_with(&named), "{preset}: {analyzer}");
        Index::create(dir.path(), made).unwrap();
        let index = Index::open(dir.path()).unwrap();
        assert_eq!(index.config().preset, Some(preset));
        let stats = index.snapshot().unwrap().stats().unwrap();
        assert_eq!((stats.preset, stats.scheme), (Some(preset), scheme));
        let json = serde_json::to_value(index.snapshot().unwrap().stats().unwrap()).unwrap();
        assert_eq!(json["preset"], preset.name());
    }
    let plain = searcher(Config::new("winnow", "words", true).unwrap());
    let stats = serde_json::to_value(plain.snapshot().stats().unwrap()).unwrap();
    assert!(stats.get("preset").is_none(), "{stats}");
}

#[test]
fn the_preset_of_programs_needs_a_language() {
    let error = Config::preset(Preset::Code, true).unwrap_err();
    assert!(matches!(error, Error::Spec { .. }), "{error}");
    assert!(error.to_string().contains("language"), "{error}");
}

#[test]
fn a_search_uses_the_rank_of_the_preset_and_says_so() {
    let searcher = searcher(config(Preset::Rewritten));
    let query = || Query::text(words(1, 60));
    let by_preset = searcher.search(&query()).unwrap();
    let defaults: PresetDefaults = by_preset.defaults.unwrap();
    assert_eq!((defaults.preset, defaults.rank), (Preset::Rewritten, Some(PresetRank::Weight)));
    assert_eq!(defaults.min_resemblance, None);
    let by_weight = searcher.search(&query().rank(Rank::Weight)).unwrap();
    assert_eq!(by_preset.hits, by_weight.hits);
    assert!(by_preset.hits[0].weighted.is_some());
    assert_eq!(by_weight.defaults, None);
    let by_overlap = searcher.search(&query().rank(Rank::Overlap)).unwrap();
    assert!(by_overlap.hits[0].weighted.is_none());
    // A preset ranks hits, but a trace is not ranked.
    let trace = searcher.search(&query().goal(Goal::Trace)).unwrap();
    assert_eq!(trace.defaults, None);
}

#[test]
fn no_threshold_of_a_preset_hides_a_quotation_from_a_search() {
    for preset in [Preset::Essays, Preset::Ocr] {
        let searcher = searcher(config(preset));
        let quotation = words(1, 60).split(' ').take(25).collect::<Vec<_>>().join(" ");
        let answer = searcher.search(&Query::text(quotation)).unwrap();
        assert_eq!(answer.hits[0].id, "d1", "{preset}");
        assert_eq!(answer.defaults, None, "{preset}");
    }
}

#[test]
fn a_merge_keeps_the_preset_of_the_target() {
    let plain = || Config::new(Preset::Corpus.scheme(), Preset::Corpus.analyzer(), true).unwrap();
    for (target, shard, kept) in [
        (config(Preset::Corpus), plain(), Some(Preset::Corpus)),
        (plain(), config(Preset::Corpus), None),
        (config(Preset::Corpus), plain().with_preset(Some(Preset::Essays)), Some(Preset::Corpus)),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        filled(Index::create(path("target"), target).unwrap(), 0);
        filled(Index::create(path("shard"), shard).unwrap(), 10);
        let merged = |to: &Path, from: &Path| {
            Index::add_indexes(to, &[from], AddIndexesOptions::default()).unwrap();
            Index::open(to).unwrap()
        };
        let index = merged(&path("target"), &path("shard"));
        assert_eq!(index.config().preset, kept);
        assert_eq!(index.snapshot().unwrap().documents(), 6);
        // A new index is created like the first shard.
        let new = merged(&path("new"), &path("target"));
        assert_eq!(new.config().preset, kept);
    }
}

#[test]
fn indexes_searched_as_one_have_a_preset_if_all_have_the_same() {
    let index = |preset: Option<Preset>, first| {
        let config = config(Preset::Essays).with_preset(preset);
        filled(Index::in_memory(config).unwrap(), first).snapshot().unwrap()
    };
    let of = |a, b| {
        let named = vec![("a".to_owned(), index(a, 0)), ("b".to_owned(), index(b, 10))];
        Snapshot::union(named).unwrap().preset()
    };
    let corpus = Some(Preset::Corpus);
    assert_eq!(of(corpus, corpus), corpus);
    assert_eq!(of(corpus, None), None);
    assert_eq!(of(None, corpus), None);
    assert_eq!(of(corpus, Some(Preset::Essays)), None);
}

#[test]
fn joins_use_the_defaults_of_the_preset_without_being_told_and_say_so() {
    // Two documents that share a quarter of their words are similar, but no near-duplicates.
    let text = |first: u64| words(1, 100) + " " + &words(first, 300);
    let of = |preset: Option<Preset>| {
        let index = Index::in_memory(config(Preset::Essays).with_preset(preset)).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        writer.add(Document::new("a", text(2))).unwrap();
        writer.add(Document::new("b", text(3))).unwrap();
        writer.finish().unwrap();
        Searcher::new(index.snapshot().unwrap())
    };
    let (plain, corpus) = (of(None), of(Some(Preset::Corpus)));
    let least = |defaults: Option<PresetDefaults>| defaults.and_then(|used| used.min_resemblance);
    let options = PairOptions::default();
    let found = |searcher| pairs(searcher, &options);
    assert_eq!((found(&plain).count(), found(&plain).defaults()), (1, None));
    assert_eq!((found(&corpus).count(), least(found(&corpus).defaults())), (0, Some(0.8)));
    // Two indexes get the defaults of a preset if both have the preset.
    assert_eq!(found(&corpus).against(&plain).defaults(), None);
    assert_eq!(least(found(&corpus).against(&corpus).defaults()), Some(0.8));
    let best = found(&corpus).most_similar().unwrap();
    assert_eq!((best.pairs.len(), least(best.defaults)), (0, Some(0.8)));

    let clustered = |searcher, least: f64| {
        let options = ClusterOptions::default();
        let given = options.clone().thresholds(Thresholds::default().min_resemblance(least));
        (clusters(searcher, &options), clusters(searcher, &given))
    };
    let (by_preset, given) = clustered(&corpus, 0.1);
    assert_eq!((least(by_preset.defaults()), given.defaults()), (Some(0.8), None));
    assert_eq!((by_preset.count(), given.count()), (0, 1));

    let (ocr, options) = (Index::in_memory(config(Preset::Ocr)).unwrap(), DedupOptions::default());
    let run = |options: &DedupOptions| Dedup::new(&ocr, options, Vec::new()).defaults();
    assert_eq!(least(run(&options)), Some(0.6));
    assert_eq!(run(&options.exact(true)), None);
}
