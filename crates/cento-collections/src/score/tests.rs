use super::*;
use crate::pairs::{Pair, pairs};
use crate::{PairOptions, PairRank, Thresholds};
use cento::index::{Config, Document, Index, WriterOptions};
use cento_text::compare::programs::ProgramRuns;
use cento_text::hash::mix64;
use cento_text::text::Tokens;

fn searcher(texts: &[String]) -> Searcher {
    let config = Config::new("winnow(k=5,w=4)", "code(language=java)", true).unwrap();
    let index = Index::in_memory(config).unwrap();
    let mut writer = index.writer(WriterOptions::default().memory_bytes(0usize)).unwrap();
    for (number, text) in texts.iter().enumerate() {
        writer.add(Document::new(format!("{number:03}"), text.clone())).unwrap();
        if number == texts.len() / 2 {
            writer.commit().unwrap();
        }
    }
    writer.finish().unwrap();
    Searcher::new(index.snapshot().unwrap())
}

/// Returns a program of statements that follow from the seeds.
fn program(seeds: &[u64]) -> String {
    let statement = |seed: &u64| {
        let (form, name, number) = (mix64(*seed) % 7, seed % 5, mix64(seed + 1) % 9);
        match form {
            0 => format!("int v{name} = read({number});"),
            1 => format!("if (v{name} > {number}) {{ v{name}++; }}"),
            2 => format!("for (int i = 0; i < {number}; i++) {{ v{name} += i; }}"),
            3 => format!("out.println(v{name} + \"{number}\");"),
            4 => format!("while (v{name}-- > 0) step(v{name}, {number});"),
            5 => format!("v{name} = Math.max(v{name}, a[{number}]);"),
            _ => format!("long[] w{name} = new long[{number}];"),
        }
    };
    let body: String = seeds.iter().map(statement).collect();
    format!("class P {{ void run() {{ {body} }} }}")
}

/// Returns programs of a task, which share some of their statements.
fn task(count: u64, salt: u64) -> Vec<String> {
    let seed = |number: u64, at: u64| match mix64(number * 64 + at + salt) % 3 {
        0 => number * 64 + at + salt,
        _ => at + salt,
    };
    (0..count)
        .map(|number| program(&(0..30).map(|at| seed(number, at)).collect::<Vec<_>>()))
        .collect()
}

fn scored(searcher: &Searcher, against: Option<&Searcher>, threads: usize) -> Vec<Pair> {
    let thresholds = Thresholds::default().min_overlap(1);
    let options = PairOptions::default().thresholds(thresholds).rank(PairRank::Score);
    let found = pairs(searcher, &options).threads(threads);
    against
        .into_iter()
        .fold(found, |found, other| found.against(other))
        .map(Result::unwrap)
        .collect()
}

/// Returns the likeness of every pair of programs.
fn by_definition(texts: &[String]) -> Vec<Vec<f64>> {
    let config = Config::new("winnow(k=5,w=4)", "code(language=java)", true).unwrap();
    let runs: Vec<ProgramRuns> = texts
        .iter()
        .map(|text| {
            let mut tokens = Tokens::default();
            config.analyzer.analyze(text, &mut tokens, Stop::NEVER).unwrap();
            ProgramRuns::of_tokens(text, &tokens, &[], Stop::NEVER).unwrap()
        })
        .collect();
    let tokens: u64 = texts.iter().map(|text| u64::from(config.sign(text).unwrap().0)).sum();
    let mut frequencies = RunFrequencies::new(tokens);
    runs.iter().for_each(|runs| frequencies.count(runs, PARTS));
    let weights = frequencies.weights();
    let weigh = |runs: ProgramRuns| {
        let weight = weights.of(&runs);
        WeighedProgram { runs: Arc::new(runs), weight }
    };
    let programs: Vec<WeighedProgram> = runs.into_iter().map(weigh).collect();
    let scores = |a| programs.iter().map(|b| weights.likeness(a, b).both()).collect();
    programs.iter().map(scores).collect()
}

#[test]
fn scores_are_those_of_the_definition_for_any_number_of_threads() {
    let mut texts = task(28, 1000);
    texts.extend(task(5, 7000));
    let (searcher, expected) = (searcher(&texts), by_definition(&texts));
    let found = scored(&searcher, None, 1);
    assert_eq!(found, scored(&searcher, None, 3));
    assert!(found.len() > 300);
    let number = |address| searcher.snapshot().id(address).unwrap().parse::<usize>().unwrap();
    let mut last = f64::INFINITY;
    for pair in &found {
        let (a, b, score) = (number(pair.a), number(pair.b), pair.score.unwrap());
        assert_eq!(score, expected[a][b], "{a} {b}");
        assert!((0.0..=last).contains(&score));
        last = score;
    }
}

#[test]
fn the_best_pairs_are_the_first_of_all() {
    let mut texts = task(28, 1000);
    texts.extend(task(5, 7000));
    let searcher = searcher(&texts);
    let all = scored(&searcher, None, 1);
    for (limit, threads) in [(1usize, 1), (7, 3), (40, 2)] {
        let thresholds = Thresholds::default().min_overlap(1);
        let options = PairOptions::default().thresholds(thresholds).rank(PairRank::Score);
        let mut found = pairs(&searcher, &options.limit(limit)).threads(threads);
        let best: Vec<Pair> = found.by_ref().map(Result::unwrap).collect();
        assert_eq!((found.total(), &best[..]), (all.len() as u64, &all[..limit]));
    }
}

#[test]
fn a_sample_of_programs_does_not_depend_on_where_they_are_stored() {
    let texts = task(40, 1000);
    let sample = |searcher: &Searcher, numbers| {
        let programs = Programs::new(ScoredTexts::new(searcher, None, None).a);
        let sample = programs.sample(numbers, 7, Stop::NEVER).unwrap();
        let id = |number| searcher.snapshot().id(programs.numbering.address(number)).unwrap();
        (sample.numbers.iter().copied().map(id).collect::<Vec<_>>(), sample.parts)
    };
    let config = Config::new("winnow(k=5,w=4)", "code(language=java)", true).unwrap();
    let index = Index::in_memory(config).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    for (number, text) in texts.iter().enumerate().rev() {
        writer.add(Document::new(format!("{number:03}"), text.clone())).unwrap();
    }
    writer.finish().unwrap();
    let backwards = Searcher::new(index.snapshot().unwrap());
    let searcher = searcher(&texts);
    let (ids, parts) = sample(&searcher, 0..40);
    assert_eq!((ids.len(), parts), (7, 40 * PARTS / 7));
    assert_eq!(sample(&backwards, 0..40), (ids, parts));
    assert_eq!(sample(&searcher, 35..40).1, PARTS);
    assert_eq!(sample(&searcher, 9..9), (Vec::new(), 0));
}

#[test]
fn scores_by_a_sample_are_near_those_of_all() {
    let mut texts = task(100, 1000);
    texts.extend(task(100, 7000));
    let searcher = searcher(&texts);
    let scores = |counted_max| {
        let texts = ScoredTexts::new(&searcher, None, None);
        PairScores::with_sample(texts, 20, counted_max, 2, Stop::NEVER).unwrap()
    };
    let (all, sampled) = (scores(1000), scores(25));
    let at = |number: u64| all.a.numbering.address(number);
    for (a, b) in (0..20).flat_map(|a| (a + 1..200).step_by(17).map(move |b| (a, b))) {
        let score = |by: &PairScores| by.of(at(a), at(b), Stop::NEVER).unwrap();
        let (exact, near) = (score(&all), score(&sampled));
        assert!((exact - near).abs() < 0.05, "{a} {b}: {exact} {near}");
    }
}

#[test]
fn members_of_a_large_group_of_copies_do_not_lower_each_others_scores() {
    // Eleven copies of a program once ranked below two honest programs of another task.
    let base: Vec<u64> = (50..80).collect();
    let copy = |number: u64| {
        let changed = |&seed: &u64| if seed == 50 + number { 9000 + number } else { seed };
        program(&base.iter().map(changed).collect::<Vec<_>>())
    };
    let honest: Vec<String> = (0..10).flat_map(|at| task(2, 900 + 100 * at)).collect();
    for count in [2, 3, 8, 11, 30] {
        let copies: Vec<String> = (0..count).map(copy).collect();
        let searcher = searcher(&[&copies[..], &honest].concat());
        let is_copy =
            |address| searcher.snapshot().id(address).unwrap().parse::<u64>().unwrap() < count;
        let all = scored(&searcher, None, 2);
        let (ring, others) = all.split_at((count * (count - 1) / 2) as usize);
        assert!(ring.iter().all(|pair| is_copy(pair.a) && is_copy(pair.b)), "{count}");
        let [last, next] = [ring.last(), others.first()].map(|pair| pair.unwrap().score.unwrap());
        assert!(last > next, "{count}: {last} {next}");
    }
}

#[test]
fn equal_programs_have_the_score_of_one_however_many_are_equal() {
    let unusual = program(&(50..80).collect::<Vec<_>>());
    for equal in [2, 8] {
        let mut texts = task(4, 900);
        texts.extend(vec![unusual.clone(); equal]);
        assert_eq!(scored(&searcher(&texts), None, 2)[0].score, Some(1.0));
    }
}

#[test]
fn a_copy_with_the_names_of_its_original_stands_out_where_all_code_is_equal() {
    let base = program(&(50..80).collect::<Vec<_>>());
    let renamed = |author: u64| {
        (0..5).fold(base.clone(), |text, name| {
            text.replace(&format!("v{name}"), &format!("of{author}name{name}"))
        })
    };
    let mut texts: Vec<String> = (0..12).map(renamed).collect();
    texts.push(texts[3].replace(';', ";\n"));
    let found = scored(&searcher(&texts), None, 2);
    assert!(found.iter().all(|pair| pair.similarity.resemblance == 1.0));
    let scores = [0, 1].map(|place| found[place].score.unwrap());
    assert!(scores[0] > 0.95 && scores[1] < 0.85, "{scores:?}");
}

#[test]
fn pairs_of_two_indexes_are_scored_by_the_programs_of_the_other() {
    let copy = program(&(300..330).collect::<Vec<_>>());
    let (mut here, mut there) = (task(9, 40), task(9, 4040));
    here.push(copy.clone());
    there.push(copy.replace("v2", "x"));
    let found = scored(&searcher(&here), Some(&searcher(&there)), 2);
    let best = &found[0];
    assert!(best.score.unwrap() > 0.7 && found[1].score < best.score, "{found:?}");
}

#[test]
fn documents_without_texts_or_of_prose_have_no_score() {
    for (analyzer, stores) in [("code(language=java)", false), ("words", true)] {
        let index = Index::in_memory(Config::new("winnow", analyzer, stores).unwrap()).unwrap();
        let searcher = Searcher::new(index.snapshot().unwrap());
        assert!(!has_scores(&searcher));
        let found = pairs(&searcher, &PairOptions::default().rank(PairRank::Score)).next();
        assert!(matches!(found, Some(Err(Error::InvalidArgument { .. }))), "{found:?}");
    }
}

#[test]
fn programs_that_are_too_short_to_tell_come_after_all_others() {
    let short = "class A { int f(int x) { return x + 1; } }".to_owned();
    let mut texts = vec![short.clone(), short];
    texts.extend(task(4, 1));
    let searcher = searcher(&texts);
    for rank in [PairRank::Overlap, PairRank::Similarity, PairRank::Weight, PairRank::Score] {
        let thresholds = Thresholds::default().min_overlap(1);
        let options = PairOptions::default().thresholds(thresholds).rank(rank);
        let found = pairs(&searcher, &options).map(Result::unwrap);
        let apart: Vec<bool> = found.map(|pair| pair.too_short.unwrap()).collect();
        assert!(apart.is_sorted() && apart.contains(&true) && !apart[0], "{rank:?} {apart:?}");
    }
}
