//! A writer keeps its promises after a panic, and after a commit that cannot be opened.

use std::io;
use std::sync::atomic::Ordering;

use crate::common::fault::{poison_at, silence, unopenable};
use crate::common::{Model, assert_holds, config, document, words};
use cento::Error;
use cento::Stop;
use cento::index::{Config, Index, Outcome, Writer, WriterOptions};
use cento::runtime::{Faults, Point};

#[test]
fn a_writer_whose_commit_cannot_be_opened_goes_on_where_it_is() {
    silence();
    for panics in [false, true] {
        let (is_unopenable, faults) = unopenable(panics);
        let index = Index::in_memory(config()).unwrap();
        index.set_faults(faults);
        let mut writer = index.writer(WriterOptions::default()).unwrap();
        let add = |writer: &mut Writer, id: &str, seed| {
            let signed = cento::index::SignedDocument::new(
                document(id, &words(seed, 30)),
                &config(),
                Stop::NEVER,
            );
            writer.add_signed(signed.unwrap()).unwrap()
        };
        assert_eq!(add(&mut writer, "a", 1), Outcome::Added);
        is_unopenable.store(true, Ordering::Relaxed);
        writer.commit().unwrap();
        assert!(writer.committed().is_err());
        assert_eq!(writer.uncommitted(), 0);
        assert_eq!(add(&mut writer, "a", 1), Outcome::Unchanged);
        assert_eq!(add(&mut writer, "a", 2), Outcome::Replaced);
        assert_eq!(add(&mut writer, "b", 3), Outcome::Added);
        writer.commit().unwrap();
        assert!(writer.remove("b").unwrap() && !writer.has("b").unwrap());
        writer.commit().unwrap();
        is_unopenable.store(false, Ordering::Relaxed);
        assert_eq!(writer.committed().unwrap().documents(), 1);
        assert_eq!(add(&mut writer, "b", 4), Outcome::Added);
        writer.finish().unwrap();
        let expected = Model::from([("a".into(), words(2, 30)), ("b".into(), words(4, 30))]);
        assert_holds(&index, &expected);
    }
}

#[test]
fn a_panic_on_the_thread_that_writes_segments_is_a_defect_and_not_a_failed_disk() {
    silence();
    let index = Index::in_memory(Config::new("winnow(k=5,w=10)", "words", true).unwrap()).unwrap();
    index.set_faults(poison_at(Point::Index));
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    crate::common::add(&mut writer, "poison", "some words").unwrap();
    let error = writer.commit().unwrap_err();
    assert!(matches!(error, Error::Internal { .. }), "{error:?}");
    assert!(error.to_string().contains("defect") && !error.to_string().contains("private"));
    assert!(!writer.is_usable() && writer.remove("a").is_err());
    drop(writer);
    assert_holds(&index, &Model::new());
    // A failing disk gives its own error, whichever call notices it first.
    let index = Index::in_memory(config()).unwrap();
    index.set_faults(Faults::new(|point, _| match point {
        Point::Index => Err(io::ErrorKind::StorageFull.into()),
        _ => Ok(()),
    }));
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    let failed =
        (0..).find_map(|i| crate::common::add(&mut writer, &format!("{i}"), "some words").err());
    let failed = failed.unwrap();
    let error: &(dyn std::error::Error + 'static) = &failed;
    let causes = std::iter::successors(Some(error), |error| error.source());
    let is_full = |cause: &(dyn std::error::Error + 'static)| {
        let io = cause.downcast_ref::<io::Error>();
        io.is_some_and(|io| io.kind() == io::ErrorKind::StorageFull)
    };
    assert!({ causes }.any(is_full), "{error:?}");
}
