//! Requests of watches: searches, names, and refusals.

use cento::index::{Config, Document, Index, WriterOptions};
use cento::{Query, Reason, Searcher, Stop};
use cento_api::http::WatchRequest;
use cento_api::{Thresholds, WatchOptions, Webhook};
use cento_collections::watch::Watches;

use crate::watches::{counted, parts, text, watched};

#[test]
fn events_name_the_part_of_the_watch_and_that_of_the_document() {
    // The document has the end of one part of the watch directly before the beginning of the next
    // part. These are two passages, as in a search.
    for store_text in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("it");
        let config = Config::new("winnow(k=3,w=4)", "words", store_text).unwrap();
        let index = Index::create(&path, config).unwrap();
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        writer.log_changes().unwrap();
        let mut watches = Watches::open(&index).unwrap();
        let watched = [("one.c", counted(0..60)), ("two.c", counted(60..120))];
        let watched = watched.each_ref().map(|(name, text)| (*name, text.as_str()));
        let request = WatchRequest { parts: Some(parts(&watched)), ..WatchRequest::default() };
        let watch = watches.add(request.clone()).unwrap();
        assert_eq!(watch.tokens, 120);
        assert_eq!(watches.add(request.clone()).unwrap(), watch, "an equal one changes nothing");
        let other = WatchRequest { parts: Some(parts(&[watched[1], watched[0]])), ..request };
        assert_ne!(watches.add(other).unwrap().name, watch.name);
        // The watch is read again from the disk.
        drop(watches);
        let mut watches = Watches::open(&index).unwrap();
        let copied = [("x", counted(500..540)), ("y", counted(30..90))];
        writer.add(Document::of_parts("copy", copied)).unwrap();
        writer.finish().unwrap();
        watches.match_commits(Stop::NEVER).unwrap();
        let found = watches.reader().events(0, Some(&watch.name), 10, Stop::NEVER).unwrap().events;
        let passages = found[0].hit.passages.as_ref().unwrap();
        let named: Vec<_> = passages
            .iter()
            .map(|passage| (passage.a_part.as_deref(), passage.b_part.as_deref()))
            .collect();
        assert_eq!(named, [(Some("one.c"), Some("y")), (Some("two.c"), Some("y"))], "{store_text}");
        let mut query = Query::of_parts(watched).limit(usize::MAX).min_passage(12u32);
        query.options.passages = true;
        let searched = Searcher::new(index.snapshot().unwrap()).search(&query).unwrap();
        assert_eq!(searched.hits, [found[0].hit.clone()]);
    }
}

#[test]
fn watches_that_differ_in_the_secret_of_their_receiver_are_one() {
    // Everybody who lists watches sees names, and could try secrets if a name were made of the
    // secret.
    let dir = tempfile::tempdir().unwrap();
    let (_index, _writer, mut watches) = watched(&dir.path().join("it"));
    let of = |url: &str, secret: &str| WatchRequest {
        text: Some(text(1, 1, 40)),
        webhook: Some(Webhook { url: url.into(), secret: secret.into() }),
        ..WatchRequest::default()
    };
    let one = watches.add(of("https://a.example/", "a secret of many bytes")).unwrap();
    assert_eq!(watches.add(of("https://a.example/", "a secret of many bytes")).unwrap(), one);
    let error = watches.add(of("https://a.example/", "one more secret of it")).unwrap_err();
    assert_eq!(error.reason(), Reason::IdTaken, "{error}");
    assert!(error.to_string().contains("another secret of its webhook"), "{error}");
    // The first secret counts until the watch is removed.
    let secret = |watches: &Watches, name: &str| watches.reader().webhook(name).unwrap().secret;
    assert_eq!(secret(&watches, &one.name), "a secret of many bytes");
    assert_ne!(
        watches.add(of("https://b.example/", "one more secret of it")).unwrap().name,
        one.name
    );
    assert!(watches.remove(&one.name, Stop::NEVER).unwrap().0);
    let again = watches.add(of("https://a.example/", "one more secret of it")).unwrap();
    assert_eq!(again.name, one.name);
    assert_eq!(secret(&watches, &one.name), "one more secret of it");
}

#[test]
fn a_watch_that_cannot_match_or_be_named_is_refused_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let (index, _writer, mut watches) = watched(&dir.path().join("it"));
    let mut check = |request: WatchRequest, expected: &str| {
        let error = watches.add(request).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let of = |text: &str| WatchRequest { text: Some(text.into()), ..WatchRequest::default() };
    let long = text(1, 1, 40);
    check(WatchRequest::default(), "exactly one of `text`, `parts`, `id` and `signature`");
    check(WatchRequest { id: Some("a".into()), ..of(&long) }, "exactly one of");
    check(WatchRequest { parts: Some(parts(&[("a", &long)])), ..of(&long) }, "exactly one of");
    let of_parts = |names: [&str; 2]| WatchRequest {
        parts: Some(parts(&names.map(|name| (name, long.as_str())))),
        ..WatchRequest::default()
    };
    check(of_parts(["a", "a"]), "two of its parts have the name");
    check(of_parts(["a", ""]), "the name of its part 2 is empty");
    check(WatchRequest { parts: Some(Vec::new()), ..WatchRequest::default() }, "`parts` is empty");
    check(of("a few words"), "give a threshold such as `min_containment`");
    check(of(""), "no tokens to look for");
    check(WatchRequest { id: Some("a".into()), ..WatchRequest::default() }, "has the id `a`");
    check(WatchRequest { name: Some("all".into()), ..of(&long) }, "a watch has this name");
    check(WatchRequest { name: Some("a\nb".into()), ..of(&long) }, "control");
    let filter = WatchOptions::default().filter("a:[1 TO");
    check(WatchRequest { options: filter, ..of(&long) }, "filter");
    let thresholds = Thresholds::default().min_containment(1.5);
    check(WatchRequest { thresholds, ..of(&long) }, "from 0 to 1");
    // Another process has the watches open.
    let error = Watches::open(&index).unwrap_err();
    assert_eq!(error.reason(), Reason::Locked, "{error}");
}
