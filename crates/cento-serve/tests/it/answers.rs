//! Answers to searches and comparisons, alone and in batches, and reasons for refusals.

use crate::common::{Ask, LINES, Routes, Service, body, fill, indexed, line, words};
use cento::search::SearchOptions;
use cento::{BoilerplateShare, CompareOptions, Error, Map, Reason};
use cento_client::api::{
    CompareRequest, DocumentBody, DocumentBoilerplate, PairsRequest, PassagesRequest,
    SearchRequest, TextOrId,
};
use cento_collections::pairs::PairOptions;
use serde_json::{Value, json};

fn text(text: &str) -> SearchRequest {
    SearchRequest { text: Some(text.to_owned()), ..SearchRequest::default() }
}

#[test]
fn a_batch_is_answered_line_by_line() {
    let dir = indexed();
    let service = Service::with(&dir, |settings| settings.batch_max = 3);
    let client = service.client();
    let unknown = SearchRequest { id: Some("nobody".into()), ..SearchRequest::default() };
    let answers = client.search_all(&[text(&words(1, 80)), unknown, text("x")]).unwrap();
    assert_eq!(
        answers[0].as_ref().unwrap().hits,
        client.search(&text(&words(1, 80))).unwrap().hits
    );
    assert!(matches!(&answers[1], Err(Error::Service { code, .. }) if code == "unknown_id"));
    assert_eq!(answers[2].as_ref().unwrap().hits, []);
}

#[test]
fn a_batch_of_too_many_searches_is_refused() {
    let dir = indexed();
    let service = Service::with(&dir, |settings| settings.batch_max = 3);
    let refused = service.client().search_all(&vec![text("x"); 4]).unwrap_err();
    assert!(matches!(refused, Error::Service { code, .. } if code == "too_large"));
}

#[test]
fn a_malformed_line_of_a_batch_disturbs_no_other() {
    let dir = indexed();
    let service = Routes::of(&dir);
    let reply = service.ask("POST", "/v1/search", LINES, "{\"text\":\"a\"}\n\nnonsense\n");
    let answers: Vec<Value> =
        reply.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(answers[0]["hits"].is_array());
    assert_eq!(answers[1]["error"]["code"], "bad_request");
}

#[test]
fn a_client_gets_the_reason_back() {
    let dir = indexed();
    let service = Service::start(&dir);
    let client = service.client();
    let refused = |request: SearchRequest| client.search(&request).unwrap_err();
    let unknown = SearchRequest { id: Some("nobody".into()), ..SearchRequest::default() };
    assert_eq!(refused(unknown).reason(), Reason::UnknownId);
    let options = SearchOptions::default().limit(100_000);
    let large = SearchRequest { options, ..text("some words") };
    assert_eq!(refused(large).reason(), Reason::InvalidArgument { argument: Some("limit") });
}

#[test]
fn an_unknown_measure_is_an_invalid_specification() {
    // A measure is a specification, like a scheme, in a body and beside files.
    let dir = indexed();
    let service = Routes::of(&dir);
    let measure = json!({"text": "a", "verify": "jacard"}).to_string();
    let measures =
        json!({"a": {"text": "a"}, "b": {"text": "b"}, "measures": ["jacard"]}).to_string();
    for (path, body) in [("/v1/search", measure), ("/v1/compare", measures)] {
        let reply = service.post(path, &body);
        assert_eq!((reply.status, reply.code().as_str()), (400, "invalid_spec"), "{path}");
        assert!(reply.body.contains("jacard"), "{reply:?}");
    }
}

#[test]
fn a_field_of_a_wrong_value_is_named() {
    let dir = indexed();
    let service = Routes::of(&dir);
    for (field, value) in [("limit", json!(-1)), ("max_df", json!("x"))] {
        let reply = service.post("/v1/search", &json!({"text": "a", field: value}).to_string());
        assert_eq!((reply.status, reply.code().as_str()), (400, "invalid_argument"), "{field}");
        assert_eq!(reply.json()["error"]["argument"], field);
        assert!(reply.body.contains(&format!("`{field}`: ")), "{}", reply.body);
    }
}

fn with_text(text: String) -> CompareRequest {
    let (a, b) = (TextOrId::Id("a".into()), TextOrId::Text(text));
    CompareRequest { a, b, options: CompareOptions::default() }
}

#[test]
fn a_document_is_compared_with_a_text() {
    let dir = indexed();
    let service = Service::start(&dir);
    let mut request = with_text(words(1, 80));
    request.options = request.options.measures(vec!["all".to_owned()]);
    let found = service.client().compare(&request).unwrap();
    assert_eq!(found.a.as_deref(), Some("a"));
    assert_eq!(found.comparison.similarity.containment_of_b, 1.0);
    assert_eq!(found.comparison.measures.len(), 14);
}

#[test]
fn an_empty_text_is_not_compared() {
    // An answer would say that the empty text has nothing in common with the document.
    let dir = indexed();
    fill(&dir.path("idx"), &line("blank", " \u{3000}\n", json!({})));
    let service = Service::start(&dir);
    let blank = CompareRequest { b: TextOrId::Id("blank".into()), ..with_text(String::new()) };
    for (request, said) in [
        (with_text(String::new()), "a text is empty"),
        (with_text(" \u{a0}".into()), "a text is empty"),
        (blank, "the text of the document `blank` is empty"),
        (with_text("\u{ad}".into()), "there is nothing to compare: it has no words"),
    ] {
        let refused = service.client().compare(&request).unwrap_err().to_string();
        assert!(refused.contains(said), "{refused}");
    }
}

#[test]
fn a_list_of_hits_that_is_cut_says_so() {
    let dir = indexed();
    let service = Service::start(&dir);
    let client = service.client();
    let answer = client.search(&text(&words(1, 80))).unwrap();
    assert_eq!((answer.hits.len(), answer.more, answer.total), (2, false, Some(2)));
    let options = SearchOptions::default().passages(true).limit(1);
    let cut = SearchRequest { options, ..text(&words(1, 80)) };
    let cut = client.search_all(&[cut]).unwrap().remove(0).unwrap();
    assert_eq!((cut.hits.len(), cut.more, cut.total), (1, true, None));
}

#[test]
fn the_passages_of_a_hit_are_those_of_the_search() {
    let dir = indexed();
    let service = Service::start(&dir);
    let client = service.client();
    let options = SearchOptions::default().passages(true);
    let query = SearchRequest { options, ..text(&words(1, 80)) };
    let hits = client.search(&query).unwrap().hits;
    assert_eq!(hits.len(), 2);
    for hit in hits {
        let request =
            PassagesRequest { text: query.text.clone(), hit: hit.id, ..PassagesRequest::default() };
        assert_eq!(client.passages(&request).unwrap().passages, hit.passages.unwrap());
    }
}

/// Three documents. The first two share 60 words, 59 words in the same order.
fn three() -> PairsRequest {
    let documents = vec![
        body("x", &words(1, 100)).into(),
        body("y", &(words(1, 60) + &words(2, 40))).into(),
        body("z", &words(3, 100)).into(),
    ];
    PairsRequest { documents, ..PairsRequest::default() }
}

#[test]
fn pairs_are_found_among_documents_that_are_sent() {
    let dir = indexed();
    let service = Service::start(&dir);
    let client = service.client();
    let pairs = client.pairs(&three()).unwrap().pairs;
    assert_eq!((pairs.len(), pairs[0].pair.a.as_str(), pairs[0].pair.b.as_str()), (1, "x", "y"));
    let boilerplate = PairsRequest { boilerplate: vec![words(1, 60)], ..three() };
    assert_eq!(client.pairs(&boilerplate).unwrap().pairs, []);
}

#[test]
fn boilerplate_of_pairs_is_proposed_and_accepted() {
    let dir = indexed();
    let service = Service::start(&dir);
    let client = service.client();
    let sheet = words(1, 60);
    let document = |at: u64| {
        let own = words(20 + at.max(1), 40);
        let (id, text) = (format!("d{at}"), format!("{sheet} {own}"));
        DocumentBody { id, text, meta: Map::new(), id_place: None }.into()
    };
    let class =
        || PairsRequest { documents: (0..6).map(&document).collect(), ..PairsRequest::default() };
    let share = Some(BoilerplateShare::default());
    let all = client.pairs(&class()).unwrap();
    assert_eq!((all.pairs.len(), all.proposed.len()), (15, 0));
    let proposed = client.pairs(&PairsRequest { propose_boilerplate: share, ..class() }).unwrap();
    assert_eq!(proposed.pairs, all.pairs);
    let texts: Vec<String> = proposed.proposed.iter().map(|passage| passage.text.clone()).collect();
    assert_eq!(texts, [&*sheet]);
    let accepted = client.pairs(&PairsRequest { auto_boilerplate: share, ..class() }).unwrap();
    let named = client.pairs(&PairsRequest { boilerplate: texts, ..class() }).unwrap();
    assert_eq!((accepted.pairs.len(), &accepted.proposed), (1, &proposed.proposed));
    assert_eq!(accepted.pairs, named.pairs);
    // The answer has the places of the boilerplate in the two documents of the pair.
    assert_eq!((&proposed.boilerplate[..], accepted.boilerplate.len()), (&[][..], 2));
    let DocumentBoilerplate { id, ranges, .. } = &accepted.boilerplate[0];
    assert_eq!((id.as_str(), &ranges[..]), ("d0", &[(0, sheet.len() as u32)][..]));
    let both = PairsRequest { propose_boilerplate: share, auto_boilerplate: share, ..class() };
    assert!(client.pairs(&both).unwrap_err().to_string().contains("exclude each other"));
}

#[test]
fn pairs_are_limited() {
    let dir = indexed();
    let service = Service::start(&dir);
    let client = service.client();
    let with = |limit: usize| {
        client.pairs(&PairsRequest { options: PairOptions::default().limit(limit), ..three() })
    };
    assert_eq!(with(10_000).unwrap().pairs.len(), 1);
    assert!(with(usize::MAX).unwrap_err().to_string().contains("at most 10000"));
}

#[test]
fn pairs_have_a_passage_of_the_requested_length() {
    let dir = indexed();
    let service = Service::start(&dir);
    let client = service.client();
    let with = |tokens: u32| {
        let options = PairOptions::default().min_passage(tokens);
        client.pairs(&PairsRequest { options, ..three() })
    };
    let found = with(59).unwrap().pairs;
    assert_eq!((found.len(), found[0].pair.passages.as_ref().unwrap()[0].tokens), (1, 59));
    assert_eq!(with(60).unwrap().pairs, []);
    assert!(with(0).unwrap_err().to_string().contains("at least 1"));
}

/// Three texts. The second is close to the first, and the third is far from it.
fn alike() -> [Value; 3] {
    let close = format!("{} {}", words(1, 60), words(2, 10));
    let far = format!("{} {}", words(1, 60), words(3, 200));
    let texts = [("x", words(1, 80)), ("y", close), ("z", far)];
    texts.map(|(id, text)| json!({"id": id, "text": text}))
}

/// The routes that find similar texts, with the field of their results and a request.
fn finding() -> [(&'static str, &'static str, Value); 2] {
    [
        ("/v1/search", "hits", json!({"text": words(1, 80)})),
        ("/v1/pairs", "pairs", json!({"documents": alike()})),
    ]
}

fn with_least(request: &Value, least: impl Into<Value>) -> String {
    let mut request = request.clone();
    request["min_resemblance"] = least.into();
    request.to_string()
}

#[test]
fn the_similarity_of_the_texts_decides_over_http() {
    let dir = indexed();
    let service = Routes::of(&dir);
    for (path, found, request) in finding() {
        let of = |least: f64| -> Vec<Value> {
            let reply = service.post(path, &with_least(&request, least));
            assert_eq!(reply.status, 200, "{reply:?}");
            reply.json()[found].as_array().unwrap().clone()
        };
        let all = of(0.001);
        assert!(all.len() > 1, "{path} {all:?}");
        // All routes report the same similarity of two texts.
        let text = |id: &Value| {
            let documents = alike();
            let own = documents.iter().find(|document| document["id"] == *id);
            own.map_or_else(|| json!({"id": id}), |document| json!({"text": document["text"]}))
        };
        for one in &all {
            let (a, b) = match path {
                "/v1/search" => (json!({"text": request["text"]}), text(&one["id"])),
                _ => (text(&one["a"]), text(&one["b"])),
            };
            let compared = service.post("/v1/compare", &json!({"a": a, "b": b}).to_string()).json();
            assert_eq!(compared["exact"], true, "{compared}");
            let resemblance = compared["resemblance"].as_f64().unwrap();
            let names = |found: &Value| ["id", "a", "b"].map(|name| found[name].clone());
            let has = |least: f64| of(least).iter().any(|found| names(found) == names(one));
            assert!(has(resemblance - 1e-6), "{path} {one} is less than {resemblance}");
            assert!(!has(resemblance + 1e-6), "{path} {one} is more than {resemblance}");
        }
    }
}

#[test]
fn a_threshold_that_is_no_share_is_refused() {
    let dir = indexed();
    let service = Routes::of(&dir);
    for (path, _, request) in finding() {
        for wrong in [-0.01, 1.01, 1e300] {
            let reply = service.post(path, &with_least(&request, wrong));
            let found = (reply.status, reply.code());
            assert_eq!(found, (400, "invalid_argument".into()), "{path} {wrong}");
            assert!(reply.body.contains("`min_resemblance` must be"), "{reply:?}");
        }
        let reply = service.post(path, &with_least(&request, "0.5"));
        assert_eq!((reply.status, reply.code().as_str()), (400, "invalid_argument"), "{path}");
        assert_eq!(reply.json()["error"]["argument"], "min_resemblance", "{path}");
    }
}

#[test]
fn counts_alone_give_estimates_with_larger_errors() {
    let dir = indexed();
    let service = Routes::of(&dir);
    let errors = |counts_only: bool| -> Vec<f64> {
        let request = json!({"text": words(1, 80), "counts_only": counts_only});
        let answer = service.post("/v1/search", &request.to_string()).json();
        let hits = answer["hits"].as_array().unwrap();
        hits.iter().map(|hit| hit["standard_error"].as_f64().unwrap()).collect()
    };
    let [by_places, by_counts] = [errors(false), errors(true)];
    assert_eq!(by_places.len(), 2);
    assert!(by_places.iter().zip(&by_counts).all(|(places, counts)| places < counts));
}
