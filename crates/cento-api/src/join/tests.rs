use super::*;

#[test]
fn a_preference_is_the_text_that_programs_write() {
    for text in ["oldest", "longest", "date", "-meta.year"] {
        let prefer: Prefer = text.parse().unwrap();
        assert_eq!(prefer.to_string(), text);
        let options = ClusterOptions::default().prefer(prefer);
        let json = serde_json::to_string(&options).unwrap();
        assert_eq!(serde_json::from_str::<ClusterOptions>(&json).unwrap(), options);
    }
}

#[test]
fn a_default_threshold_holds_only_where_none_of_any_kind_is_set() {
    let plain = PairOptions::default();
    assert_eq!(plain.effective_thresholds(), Thresholds::of_pairs());
    let own = Thresholds::default().min_overlap(1);
    assert_eq!(plain.clone().thresholds(own).effective_thresholds(), own);
    for set in [
        plain.clone().min_passage(20),
        plain.clone().min_margin(0.0),
        plain.clone().min_similarity(0.0),
    ] {
        assert_eq!(set.effective_thresholds(), Thresholds::default());
    }
    let clusters = ClusterOptions::default();
    assert_eq!(clusters.effective_thresholds(), Thresholds::of_clusters());
}

#[test]
fn an_option_that_is_out_of_bounds_is_named() {
    let check = |options: PairOptions, named: &str| {
        let error = options.check().unwrap_err().to_string();
        assert!(error.contains(&format!("`{named}`")), "{error}");
    };
    let plain = PairOptions::default();
    plain.check().unwrap();
    check(plain.clone().thresholds(Thresholds::default().min_resemblance(2.0)), "min_resemblance");
    check(plain.clone().min_similarity(f64::NAN), "min_similarity");
    check(plain.clone().min_margin(-1.5), "min_margin");
    check(plain.clone().min_passage(0), "min_passage");
    check(plain.within("a").group_by("b"), "within");
    let check = |options: DedupOptions, named: &str| {
        let error = options.check().unwrap_err().to_string();
        assert!(error.contains(&format!("`{named}`")), "{error}");
    };
    let plain = DedupOptions::default();
    assert_eq!(plain.resemblance(), Some(0.8));
    assert_eq!(plain.exact(true).resemblance(), None);
    check(plain.exact(true).min_resemblance(0.9), "exact");
    check(plain.cut_passages(4u32), "cut_passages");
    check(plain.min_containment(-0.1), "min_containment");
}

#[test]
fn the_names_of_ranks_are_those_of_json() {
    for rank in [
        PairRank::Overlap,
        PairRank::Similarity,
        PairRank::Weight,
        PairRank::Passages,
        PairRank::Margin,
        PairRank::Score,
    ] {
        assert_eq!(serde_json::to_value(rank).unwrap(), rank.name());
    }
}
