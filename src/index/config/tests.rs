use super::*;

#[test]
fn a_schema_of_neither_texts_nor_signatures_is_refused() {
    let config = Config::new("winnow(k=5,w=10)", "words", true).unwrap();
    let mut params = config.without_signatures().unwrap().to_params();
    let read = |params: &Value| {
        Config::from_params(Path::new("some/index"), params, || unreachable!("it has no table"))
    };
    assert!(!read(&params).unwrap().store_signatures);
    params["text"] = false.into();
    let error = read(&params).unwrap_err().to_string();
    assert!(error.contains("neither texts nor signatures"), "{error}");
    assert!(error.contains("some/index"), "{error}");
}

#[test]
fn novelty_is_recorded_and_refused_where_fingerprints_have_no_runs() {
    let with = Config::new("winnow(k=5,w=10)", "words", true).unwrap().with_novelty().unwrap();
    let without = Config { records_novelty: false, ..with.clone() };
    assert_eq!(with.digest(), without.digest());
    let read = |params: &Value| {
        Config::from_params(Path::new("some/index"), params, || unreachable!("it has no table"))
    };
    assert!(read(&with.to_params()).unwrap().records_novelty);
    assert!(!read(&without.to_params()).unwrap().records_novelty);
    let mut params = Config::new("minhash", "words", true).unwrap().to_params();
    params["novelty"] = true.into();
    let error = read(&params).unwrap_err();
    assert_eq!(error.reason(), Reason::Unsuitable, "{error}");
    assert!(error.to_string().contains("it records novelty"), "{error}");
}

#[test]
fn a_preset_is_recorded_and_does_not_change_the_identity() {
    let with = Config::preset(Preset::Corpus, true).unwrap();
    let without = Config::new("minhash(k=5,b=16,r=8)", "words", true).unwrap();
    assert_eq!(with.digest(), without.digest());
    assert_eq!(with.to_params()["preset"], "corpus");
    assert!(without.to_params().get("preset").is_none());
    let read = |params: &Value| {
        Config::from_params(Path::new("some/index"), params, || unreachable!("it has no table"))
    };
    assert_eq!(read(&with.to_params()).unwrap().preset, Some(Preset::Corpus));
    assert_eq!(read(&without.to_params()).unwrap().preset, None);
    assert_eq!(with.with_text(false).unwrap().preset, Some(Preset::Corpus));
    let mut params = with.to_params();
    for unknown in [Value::from("poems"), Value::from(7)] {
        params["preset"] = unknown;
        let error = read(&params).unwrap_err();
        assert_eq!(error.reason(), Reason::OtherVersion, "{error}");
        assert!(error.to_string().contains("some/index"), "{error}");
    }
}

#[test]
fn the_digest_of_a_configuration_is_that_of_its_fields_in_the_order_of_their_names() {
    // The digest once depended on the member order of a JSON object. With another feature of
    // serde_json in the build, no existing index could be read.
    let config = Config::new("winnow(k=5,w=10)", "words", true).unwrap();
    assert_eq!(config.digest(), 11423104933199322402);
    let analyzer_digest = format!("{:016x}", config.analyzer.digest());
    let fields = [
        ("analyzer", "words(nfkc=1,fold=1,cjk=2)"),
        ("analyzer_digest", &analyzer_digest),
        ("format", "1"),
        ("hash", "1"),
        ("key_bits", "40"),
        ("scheme", "winnow(k=5,w=10)"),
        ("text", "true"),
    ];
    let mut bytes = Vec::new();
    for part in fields.iter().flat_map(|(name, value)| [name, value]) {
        bytes.extend((part.len() as u64).to_le_bytes());
        bytes.extend(part.as_bytes());
    }
    assert_eq!(config.digest(), crate::hash::hash_bytes(&bytes));
}
