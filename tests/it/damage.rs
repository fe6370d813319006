//! Damaged bytes in any file of an index: an error, or the same answers.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::common::{add, config, without_footer, words};
use cento::hash::{Digest, mix64};
use cento::index::{Document, Index, WriterOptions};
use cento::scheme::Fingerprint;
use cento::search::{Query, Searcher};
use cento::segment::{
    Header, Identity, MergeOptions, MergeSource, SegmentBuilder, SegmentReader, merge,
};
use ownedbytes::OwnedBytes;

fn small_index(path: &Path) {
    let index = Index::create(path, config()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    for doc in 0..6 {
        let text = format!("{} {}", words(doc, 40), words(100, 25));
        add(&mut writer, &format!("doc{doc}"), &text).unwrap();
    }
    writer.commit().unwrap();
    writer.remove("doc5").unwrap();
    writer.finish().unwrap();
}

/// Everything a reader can learn: hits, ids, texts, signatures.
fn answers(path: &Path) -> cento::Result<String> {
    let index = Index::open(path)?;
    let snapshot = index.snapshot()?;
    let searcher = Searcher::new(snapshot.clone());
    let mut all = String::new();
    for doc in 0..6 {
        let mut answer = searcher.search(&Query::text(words(doc, 40)))?;
        answer.took_us = 0;
        all += &format!("{answer:?}\n");
        let Some(address) = snapshot.find(&format!("doc{doc}"))? else { continue };
        all += &format!("{:?}\n", snapshot.document(address)?);
        let segment = &snapshot.segment(address).signatures;
        all += &format!("{:?}\n", segment.signature(address.doc)?);
    }
    Ok(all)
}

/// Returns the files of an index that hold committed data.
fn files(path: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_none_or(|extension| extension != "lock"))
        .collect();
    files.sort();
    files
}

/// Returns the `.sig` files of an index.
fn sigs(path: &Path) -> Vec<PathBuf> {
    let is_sig = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "sig");
    files(path).into_iter().filter(is_sig).collect()
}

#[test]
fn a_flipped_byte_anywhere_is_an_error_with_the_path_or_harmless() {
    let dir = tempfile::tempdir().unwrap();
    small_index(dir.path());
    let expected = answers(dir.path()).unwrap();
    let mut wrong = Vec::new();
    for file in files(dir.path()) {
        let whole = fs::read(&file).unwrap();
        let mut detected = 0;
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= if at % 2 == 0 { 0x01 } else { 0x80 };
            fs::write(&file, &bytes).unwrap();
            match std::panic::catch_unwind(|| answers(dir.path())) {
                Ok(Ok(found)) if found == expected => {}
                Ok(Ok(_)) => wrong.push(format!("{} byte {at}: wrong answer", file.display())),
                Ok(Err(error)) => {
                    detected += 1;
                    if !error.to_string().contains(&dir.path().display().to_string()) {
                        wrong.push(format!("{} byte {at}: no path: {error}", file.display()));
                    }
                }
                Err(_) => wrong.push(format!("{} byte {at}: panic", file.display())),
            }
        }
        fs::write(&file, &whole).unwrap();
        let is_sig = file.extension().is_some_and(|extension| extension == "sig");
        assert!(!is_sig || detected > whole.len() / 2, "{detected} of {} noticed", whole.len());
    }
    assert!(wrong.is_empty(), "{} bytes: {:#?}", wrong.len(), &wrong[..wrong.len().min(20)]);
    assert_eq!(answers(dir.path()).unwrap(), expected);
}

/// The operations of a user on an index.
type Verb = fn(&Index) -> cento::Result<()>;

/// All operations on an index, by name.
const VERBS: [(&str, Verb); 5] = [
    ("search", |index| {
        let query = Query::text(words(1, 40)).passages(true);
        Searcher::new(index.snapshot()?).search(&query).map(drop)
    }),
    ("stats", |index| index.snapshot()?.stats().map(drop)),
    ("add", |index| {
        let mut writer = index.writer(WriterOptions::default())?;
        add(&mut writer, "new", &words(200, 40))?;
        writer.finish()
    }),
    ("compact", |index| index.compact(1).map(drop)),
    ("check", |index| match index.check()?.problems.into_iter().next() {
        Some(problem) => Err(problem.into()),
        None => Ok(()),
    }),
];

#[test]
fn a_component_cut_anywhere_is_an_error_that_names_it() {
    // tantivy read 8 bytes of a file of 4 to 7 bytes and panicked, and the message blamed a .store.
    let dir = tempfile::tempdir().unwrap();
    small_index(dir.path());
    let mut components = 0;
    for file in files(dir.path()) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        if name.ends_with(".json") {
            continue;
        }
        components += 1;
        let whole = fs::read(&file).unwrap();
        let index = Index::open(dir.path()).unwrap();
        let last = whole.len() - 1;
        for len in (0..=64).chain([last / 2, last - 28, last - 8, last - 7, last]) {
            fs::write(&file, &whole[..len]).unwrap();
            for (verb, run) in VERBS {
                let error = run(&index).err().map(|error| error.to_string());
                let error = error.unwrap_or_else(|| panic!("{verb}, {name} cut to {len}"));
                assert!(error.contains(&name), "{verb}, {name} cut to {len}: {error}");
                assert!(!error.contains("IoError"), "{verb}, {name} cut to {len}: {error}");
            }
        }
        fs::write(&file, &whole).unwrap();
    }
    assert_eq!(components, 8, "files of one segment");
    answers(dir.path()).unwrap();
}

#[test]
fn a_damaged_store_is_not_merged_and_is_named() {
    // Blocks of a store have no checksums. tantivy copied damaged blocks unchanged, or panicked.
    let dir = tempfile::tempdir().unwrap();
    let index = Index::create(dir.path(), config()).unwrap();
    let mut writer = index.writer(WriterOptions::default().merge(false)).unwrap();
    for commit in 0..2 {
        add(&mut writer, &format!("doc{commit}"), &words(commit, 400)).unwrap();
        writer.commit().unwrap();
    }
    drop((writer, index));
    let stores =
        files(dir.path()).into_iter().filter(|path| path.extension().is_some_and(|e| e == "store"));
    for store in stores.collect::<Vec<_>>() {
        let whole = fs::read(&store).unwrap();
        for at in [0, 3, 4, 20, 200] {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x11;
            fs::write(&store, &bytes).unwrap();
            let index = Index::open(dir.path()).unwrap();
            let error = index.compact(1).unwrap_err();
            let path = store.display().to_string();
            assert!(matches!(&error, cento::Error::Corrupt(c) if c.file == path), "{at}: {error}");
            assert_eq!(index.snapshot().unwrap().segments().len(), 2);
        }
        fs::write(&store, &whole).unwrap();
    }
    assert_eq!(Index::open(dir.path()).unwrap().compact(1).unwrap().segments_after, 1);
}

/// The length of a footer.
const FOOTER_BYTES: usize = 192;

/// Returns the range of a section of a `.sig`, by section number.
fn section(file: &[u8], number: usize) -> Range<usize> {
    let uint = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | usize::from(byte));
    let entry = &file[file.len() - FOOTER_BYTES + 16 * number..][..16];
    uint(&entry[..8])..uint(&entry[..8]) + uint(&entry[8..])
}

/// Returns a `.sig` with changed bytes within a page, and with matching checksums.
fn forged(whole: &[u8], place: Range<usize>, bytes: &[u8]) -> Vec<u8> {
    let (mut forged, footer) = (whole.to_vec(), whole.len() - FOOTER_BYTES);
    let (checksums, page) = (section(whole, 7), place.start / 4096);
    forged[place].copy_from_slice(bytes);
    let end = (4096 * (page + 1)).min(checksums.start);
    let crc = crc32fast::hash(&forged[4096 * page..end]).to_le_bytes();
    forged[checksums.start + 4 * page..][..4].copy_from_slice(&crc);
    let crc = crc32fast::hash(&forged[checksums]).to_le_bytes();
    forged[footer + 172..footer + 176].copy_from_slice(&crc);
    let crc = crc32fast::hash(&forged[footer..footer + 176]).to_le_bytes();
    forged[footer + 176..footer + 180].copy_from_slice(&crc);
    forged
}

#[test]
fn a_forged_number_of_documents_takes_no_memory() {
    // Without stored signatures, the check allocated four bytes for each declared document, 16 GiB.
    // Now every document has an entry in the file.
    for signatures in [true, false] {
        let header = Header { key_bits: 40, documents: 0, config: 1, signatures };
        let (_, whole) = SegmentBuilder::new().write(Vec::new(), header, None).unwrap();
        let forged = forged(&whole, 12..16, &u32::MAX.to_le_bytes());
        let problem = SegmentReader::open("forged", OwnedBytes::new(forged)).unwrap_err();
        assert_eq!(problem.section, "documents", "{problem}");
    }
}

#[test]
fn a_forged_column_of_digests_finds_no_document_without_the_digest() {
    let digest = |doc: u64| Digest { low: mix64(doc % 40), high: doc % 40 };
    let mut builder = SegmentBuilder::new();
    for doc in 0..60 {
        builder.push(Identity { id: &doc.to_string(), digest: digest(doc) }, 0, &[]);
    }
    let header = Header { key_bits: 40, documents: 60, config: 1, signatures: true };
    let (_, whole) = builder.write(Vec::new(), header, None).unwrap();
    let documents = section(&whole, 6);
    let (mut refused, mut missed) = (0, 0);
    for at in documents.end - 60 * 38 / 8..documents.end {
        for change in [0x01, 0x10, 0x80, 0xff] {
            let forged = forged(&whole, at..at + 1, &[whole[at] ^ change]);
            let reader = SegmentReader::open("forged", OwnedBytes::new(forged)).unwrap();
            for number in 0..40 {
                let with: Vec<u32> =
                    (0..60).filter(|&doc| digest(doc.into()) == digest(number)).collect();
                let exists = |doc| {
                    assert!(doc < 60, "{at}: document {doc} does not exist");
                    true
                };
                match reader.documents_with(digest(number), exists) {
                    Ok(found) => {
                        assert!(found.iter().all(|doc| with.contains(doc)), "{at}: {found:?}");
                        missed += usize::from(found != with);
                    }
                    Err(_) => refused += 1,
                }
            }
            assert!(!reader.check().is_empty(), "{at}: it is not noticed");
        }
    }
    assert!(refused > 0 && missed > 0, "{refused} {missed}");
}

#[test]
fn a_forged_column_of_digests_that_names_a_document_too_many_is_refused() {
    // The check of deletions read beyond the end of the delete bitset for that document.
    let dir = tempfile::tempdir().unwrap();
    let index = Index::create(dir.path(), config()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    for doc in 0..130 {
        add(&mut writer, &doc.to_string(), &words(doc, 8)).unwrap();
    }
    writer.commit().unwrap();
    writer.remove("7").unwrap();
    writer.finish().unwrap();
    let [path] = &sigs(dir.path())[..] else { panic!("several segments") };
    let file = fs::read(path).unwrap();
    let mut whole = without_footer(&file).to_vec();
    let footer = &file[whole.len()..];
    // An entry of the column has 8 bits for the document and 32 bits of the digest.
    let documents = section(&whole, 6);
    for at in (documents.end - 130 * 5..documents.end).step_by(5) {
        whole = forged(&whole, at..at + 1, &[200]);
    }
    fs::write(path, [&whole, footer].concat()).unwrap();
    let snapshot = Index::open(dir.path()).unwrap().snapshot().unwrap();
    for doc in 0..130 {
        let found = snapshot.find_digest(Digest::of(words(doc, 8).as_bytes()));
        let refused = matches!(&found, Err(cento::Error::Corrupt(c)) if c.section == "documents");
        assert!(refused, "{doc}: {found:?}");
    }
}

#[test]
fn a_forged_term_index_is_an_error_or_harmless() {
    // The checksums match, so the damaged bytes reach fst, which follows them anywhere.
    let postings = (0..17_000u64).map(|i| (mix64(i) >> 24, i as u32 % 5));
    let mut builder = SegmentBuilder::new();
    for doc in 0..5 {
        let of_doc = postings.clone().filter(|posting| posting.1 == doc);
        let signature: Vec<_> =
            (0..).zip(of_doc).map(|(position, (key, _))| Fingerprint { key, position }).collect();
        let identity = Identity { id: &doc.to_string(), digest: Digest::of(b"") };
        builder.push(identity, 3400, &signature);
    }
    let header = Header { key_bits: 40, documents: 5, config: 1, signatures: true };
    let (_, whole) = builder.write(Vec::new(), header, None).unwrap();
    let term_index = section(&whole, 1);
    // The term index begins with the records of 64 blocks and of 3 blocks, with a head per group
    // and 12 bytes per entry. The FST follows.
    let fst = term_index.start + 2 * 12 + 67 * 12..term_index.end;
    assert!(fst.len() > 36);
    let records = [0..40, 64 * 12..66 * 12 + 12].map(|part| {
        let start = term_index.start;
        start + part.start..start + part.end
    });
    let mut harmless = 0;
    for at in records.into_iter().flatten().chain(fst.clone()) {
        for change in [0x01, 0x10, 0x80, 0xff] {
            let forged = forged(&whole, at..at + 1, &[whole[at] ^ change]);
            match SegmentReader::open("forged", OwnedBytes::new(forged)) {
                Ok(reader) => {
                    harmless += usize::from(fst.contains(&at));
                    let some = postings.clone().step_by(16);
                    some.for_each(|(key, _)| drop(reader.find(key)));
                    let _ = reader.check();
                }
                Err(error) => {
                    assert_eq!(error.section, "term index", "{at}: {error}");
                    assert!(fst.contains(&at), "{at}: records are read where they lie");
                }
            }
        }
    }
    assert!(harmless < 4 * fst.len() / 2, "{harmless}");
}

#[test]
fn a_position_of_more_than_32_bits_is_not_copied_by_a_merge() {
    let mut builder = SegmentBuilder::new();
    let signature = [u32::MAX, u32::MAX].map(|position| Fingerprint { key: 5, position });
    builder.push(Identity { id: "a", digest: Digest::of(b"a") }, u32::MAX, &signature);
    let header = Header { key_bits: 40, documents: 1, config: 1, signatures: true };
    let (_, whole) = builder.write(Vec::new(), header, None).unwrap();
    let open = |bytes| SegmentReader::open("forged", OwnedBytes::new(bytes)).unwrap();
    let merge_one = |reader: &SegmentReader| {
        let source = MergeSource { reader, alive: None };
        merge(&[source], header, Vec::new(), &MergeOptions::default()).map(|(_, bytes)| bytes)
    };
    assert_eq!(merge_one(&open(whole.clone())).unwrap(), whole);
    // First come the length, the width, and no bytes for ordinals of 0 bits. Then come the first
    // position and 0.
    let forward = section(&whole, 4);
    assert_eq!(whole[forward.clone()], [2, 32, 255, 255, 255, 255, 0, 0, 0, 0]);
    let reader = open(forged(&whole, forward.start + 6..forward.start + 7, &[1]));
    let error = merge_one(&reader).unwrap_err().to_string();
    assert!(error.contains("a position exceeds 32 bits"), "{error}");
    assert_eq!(reader.signature(0).unwrap_err().to_string(), error);
}

#[test]
fn check_names_the_damaged_file() {
    let dir = tempfile::tempdir().unwrap();
    small_index(dir.path());
    assert_eq!(Index::open(dir.path()).unwrap().check().unwrap().problems, []);
    for file in files(dir.path()) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let whole = fs::read(&file).unwrap();
        let mut bytes = whole.clone();
        let middle = bytes.len() / 3;
        bytes[middle] ^= 0x10;
        fs::write(&file, &bytes).unwrap();
        let problems = match Index::open(dir.path()).and_then(|index| index.check()) {
            Ok(report) => report.problems,
            Err(cento::Error::Corrupt(problem)) => vec![problem],
            Err(_) if name == ".managed.json" => Vec::new(),
            Err(error) => panic!("{name}: {error}"),
        };
        // The list of files to collect says nothing about documents.
        let named = problems.iter().any(|problem| problem.file.contains(&name));
        assert!(named || name == ".managed.json", "{name}: {problems:?}");
        fs::write(&file, &whole).unwrap();
    }
}

#[test]
fn a_file_of_another_segment_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::create(dir.path(), config()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    for commit in 0..2 {
        add(&mut writer, &format!("doc{commit}"), &words(commit, 40)).unwrap();
        writer.commit().unwrap();
    }
    writer.finish().unwrap();
    let sigs = sigs(dir.path());
    assert_eq!(sigs.len(), 2);
    let bytes = sigs.iter().map(|path| fs::read(path).unwrap()).collect::<Vec<_>>();
    fs::write(&sigs[0], &bytes[1]).unwrap();
    fs::write(&sigs[1], &bytes[0]).unwrap();
    let error = Index::open(dir.path()).unwrap().snapshot().err().unwrap();
    let is_named = matches!(&error, cento::Error::Corrupt(problem)
        if sigs.iter().any(|sig| sig.ends_with(&problem.file)));
    assert!(is_named, "{error:?}");
}

#[test]
fn a_damaged_part_of_a_component_is_noticed_before_it_is_used() {
    // Opening the index compares only the last 4,096 bytes.
    const TAIL_BYTES: usize = 4096;
    let dir = tempfile::tempdir().unwrap();
    let index = Index::create(dir.path(), config()).unwrap();
    let mut writer = index.writer(WriterOptions::default()).unwrap();
    for doc in 0..1500 {
        let mut document = Document::new(format!("doc{doc}"), words(doc, 8));
        document.meta.insert("number".into(), doc.into());
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    writer.remove("doc5").unwrap();
    writer.finish().unwrap();
    drop(index);
    let find: Verb = |index| index.snapshot()?.find("doc7").map(drop);
    let search: Verb =
        |index| Searcher::new(index.snapshot()?).search(&Query::text(words(7, 8))).map(drop);
    let compact: Verb = |index| index.compact(1).map(drop);
    let mut large = Vec::new();
    for file in files(dir.path()) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let verbs: &[Verb] = match name.rsplit_once('.').unwrap().1 {
            "fast" => &[search, compact],
            "term" | "idx" => &[find, compact],
            _ => continue,
        };
        large.push(name.clone());
        let whole = fs::read(&file).unwrap();
        let before = whole.len().checked_sub(TAIL_BYTES + 1).unwrap();
        for at in [0, before / 2, before] {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x11;
            fs::write(&file, &bytes).unwrap();
            let index = Index::open(dir.path()).unwrap();
            assert_eq!(index.snapshot().unwrap().documents(), 1499, "{name} at {at}");
            for verb in verbs {
                let error = verb(&index).unwrap_err().to_string();
                assert!(error.contains(&name), "{name} at {at}: {error}");
            }
            let problems = index.check().unwrap().problems;
            assert!(problems.iter().any(|problem| problem.file == name), "{name}: {problems:?}");
        }
        fs::write(&file, &whole).unwrap();
    }
    assert_eq!(large.len(), 3, "{large:?}");
    Index::open(dir.path()).unwrap().compact(1).unwrap();
}
