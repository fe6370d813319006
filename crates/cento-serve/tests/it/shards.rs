//! Services over shards, which together answer like a service over all documents.

use cento::Answer;
use cento::search::{Query, add_up_frequencies, next_step};
use cento_api::{ShardAnswers, ShardFrequencies, ShardStep, ShardWinners};
use cento_client::Client;
use cento_client::api::{
    Commit, SearchRequest, ShardCandidatesRequest, ShardFrequenciesRequest, ShardSpansRequest,
};
use cento_testing::several::{DOCUMENTS, text};
use cento_testing::words;
use serde_json::json;

use crate::common::{Ask, Service, body, indexed, parts};

fn ask(shards: &[Client], search: &SearchRequest, sample: bool) -> ShardFrequencies {
    let request = ShardFrequenciesRequest { search: search.clone(), sample };
    let each = shards.iter().map(|shard| shard.shard_frequencies(&request).unwrap());
    add_up_frequencies(each.collect()).unwrap()
}

/// Searches services through the three routes for shards.
fn search(shards: &[Client], search: &SearchRequest) -> Answer {
    let mut query = Query::text(search.text.clone().unwrap_or_default());
    (query.thresholds, query.options) = (search.thresholds, search.options.clone());
    let mut frequencies = ask(shards, search, true);
    let sample = frequencies.sample.take();
    let mut answers =
        ShardAnswers { frequencies, candidates: Vec::new(), hits: Vec::new(), weights: None };
    loop {
        match next_step(&query, &answers).unwrap() {
            ShardStep::Answer(answer) => return *answer,
            ShardStep::Candidates(most) => {
                let (search, frequencies) = (search.clone(), answers.frequencies.clone());
                let request = ShardCandidatesRequest { search, frequencies, most };
                let each = shards.iter().map(|shard| shard.shard_candidates(&request).unwrap());
                answers.candidates = each.collect();
            }
            ShardStep::Spans(winners) => {
                for (number, winners) in winners.into_iter().enumerate() {
                    let winners = ShardWinners {
                        commit: answers.candidates[number].commit.clone(),
                        documents: answers.frequencies.documents,
                        preset: answers.frequencies.preset,
                        sample_digest: sample.as_ref().map(|sample| sample.digest.clone()),
                        sample: sample.clone(),
                        winners,
                    };
                    let request = ShardSpansRequest { search: search.clone(), winners };
                    answers.hits.extend(shards[number].shard_spans(&request).unwrap().hits);
                }
            }
            ShardStep::Weights(signature) => {
                let of_keys = SearchRequest { signature: Some(signature), ..Default::default() };
                answers.weights = Some(ask(shards, &of_keys, false));
            }
        }
    }
}

#[test]
fn services_over_shards_answer_as_one_over_all_documents() {
    let dir = parts();
    let services = ["a", "b", "c"].map(|name| Service::over(&dir, &[name]));
    let shards = services.each_ref().map(Service::client);
    let all = Service::over(&dir, &["all"]);
    for number in 0..DOCUMENTS {
        let rank = ["overlap", "weight", "passages"][number as usize % 3];
        let request = json!({
            "text": text(number), "limit": 20, "passages": true, "max_df": "12", "rank": rank,
        });
        let request: SearchRequest = serde_json::from_value(request).unwrap();
        let whole = all.client().search(&request).unwrap();
        assert!(whole.hits.len() > 4 && whole.query.stopped > 0, "{whole:?}");
        assert_eq!(Answer { took_us: whole.took_us, ..search(&shards, &request) }, whole);
    }
}

#[test]
fn services_over_shards_trace_a_text_as_one_over_all_documents() {
    let dir = parts();
    let services = ["a", "b", "c"].map(|name| Service::over(&dir, &[name]));
    let shards = services.each_ref().map(Service::client);
    let all = Service::over(&dir, &["all"]);
    for (number, rest) in [(0, json!({})), (1, json!({"limit": 1, "carriers": 3}))] {
        let text = [words(number, 40), words(5000, 40), words(77, 30)].join(" ");
        let mut request = json!({"text": text, "goal": "trace"});
        request.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        let request: SearchRequest = serde_json::from_value(request).unwrap();
        let whole = all.client().search(&request).unwrap();
        let spans = &whole.trace.as_ref().unwrap().spans;
        assert!(spans.iter().any(|span| span.is_common && span.carriers == DOCUMENTS), "{whole:?}");
        assert!(spans.iter().any(|span| span.carriers == 6), "{whole:?}");
        assert_eq!(Answer { took_us: whole.took_us, ..search(&shards, &request) }, whole);
    }
}

#[test]
fn a_service_that_has_committed_meanwhile_refuses_with_409() {
    let dir = indexed();
    let service = Service::start(&dir);
    let request = json!({"text": text(0)});
    let reply = service.post("/v1/shard/frequencies", &json!({"search": request}).to_string());
    assert_eq!(reply.status, 200, "{reply:?}");
    let counted = reply.json();
    service.client().add(&body("new", "some other text"), Commit::Wait).unwrap();
    let request = json!({"search": request, "frequencies": counted, "most": 10});
    let reply = service.post("/v1/shard/candidates", &request.to_string());
    assert_eq!((reply.status, reply.code()), (409, "conflict".into()), "{}", reply.body);
    assert!(reply.body.contains("another commit"), "{}", reply.body);
    let winners = json!({"commit": counted["commits"][0], "documents": 1, "winners": []});
    let request = json!({"search": {"text": text(0)}, "winners": winners});
    let reply = service.post("/v1/shard/spans", &request.to_string());
    assert_eq!((reply.status, reply.code()), (409, "conflict".into()), "{}", reply.body);
}

#[test]
fn a_request_that_shards_cannot_add_up_is_refused_by_name() {
    let dir = parts();
    let service = Service::over(&dir, &["a"]);
    let check = |search, argument: &str| {
        let reply = service.post("/v1/shard/frequencies", &json!({"search": search}).to_string());
        assert_eq!(reply.status, 400, "{reply:?}");
        assert_eq!(reply.json()["error"]["argument"], argument, "{}", reply.body);
    };
    check(json!({"id": "d00"}), "id");
    check(json!({"text": "some words", "goal": "passage"}), "goal");
    check(json!({"text": "some words", "budget": 3}), "budget");
}
