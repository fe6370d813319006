//! Runs the targets of `fuzz/` on every stored input: seeds, and inputs that once failed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

#[path = "../../../../fuzz/src/lib.rs"]
mod cases;

/// Maximum total size of the seeds of every target, in bytes.
const SEED_BYTES_MAX: u64 = 300_000;

fn dir(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz").join(kind)
}

/// The files of a directory, sorted by name. Empty without such a directory.
fn files(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Runs a target on its inputs, printing the names, so that a failing input can be identified.
fn replay(name: &str) {
    let (_, target) = cases::TARGETS.into_iter().find(|(other, _)| *other == name).unwrap();
    let seeds = files(&dir("seeds").join(name));
    assert!(!seeds.is_empty(), "fuzz/seeds/{name} is empty");
    for path in seeds.into_iter().chain(files(&dir("failed").join(name))) {
        println!("{}", path.display());
        target(&fs::read(&path).unwrap());
    }
    cases::made(name).iter().for_each(|(_, input)| target(input));
    cases::of_all(name).iter().for_each(|input| target(input));
    // Inputs that every fuzzer tries first.
    target(b"");
    target(b"\0");
}

macro_rules! replayed {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                replay(stringify!($name));
            }
        )*

        const REPLAYED: &[&str] = &[$(stringify!($name)),*];
    };
}

replayed! {
    archive charset code filter forms frequencies http index jsonl logs markup sig sig_forged signature
    spec stems tokens withdrawals
}

/// `cargo test -p cento-cli --test it fuzz_replay::write_the_seeds -- --ignored` after a change of
/// a format, so that the fuzzer begins with valid files.
#[test]
#[ignore = "it writes files of the repository"]
fn write_the_seeds() {
    for (target, _) in cases::TARGETS {
        for (name, input) in cases::made(target) {
            let dir = dir("seeds").join(target);
            fs::create_dir_all(&dir).unwrap();
            fs::write(dir.join(name), input).unwrap();
        }
    }
}

#[test]
fn no_target_and_no_input_is_forgotten() {
    let names: BTreeSet<String> = REPLAYED.iter().map(|name| name.to_string()).collect();
    assert!(cases::TARGETS.iter().map(|(name, _)| *name).eq(REPLAYED.iter().copied()));
    let manifest = fs::read_to_string(dir("Cargo.toml")).unwrap();
    let binaries = manifest.split("[[bin]]\nname = \"").skip(1);
    let binaries: Vec<&str> = binaries.map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(REPLAYED.iter().copied().eq(binaries));
    for kind in ["seeds", "failed"] {
        for path in files(&dir(kind)) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            assert!(names.contains(&name), "{} belongs to no target", path.display());
        }
    }
    let seeds = names.iter().flat_map(|name| files(&dir("seeds").join(name)));
    let bytes: u64 = seeds.map(|path| path.metadata().unwrap().len()).sum();
    assert!(bytes <= SEED_BYTES_MAX, "{bytes} bytes of seeds");
}
