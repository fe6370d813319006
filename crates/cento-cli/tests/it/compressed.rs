//! Compressed files whose windows take much memory.

use crate::common::run::Dir;

#[test]
fn a_window_that_takes_too_much_memory_is_refused_with_advice() {
    let dir = Dir::new();
    // A header that declares a window of 2 GiB and a content of 3 GiB.
    let mut large = b"\x28\xb5\x2f\xfd\x80\xa8".to_vec();
    large.extend((3_u32 << 30).to_le_bytes());
    dir.write("b.jsonl.zst", large);
    let run = dir.run(&["add", "idx", "b.jsonl.zst"]);
    let advice = "zstd -dc --long=31 FILE | cento add INDEX -";
    assert!(run.status == 2 && run.err.contains(advice), "{}", run.err);
    // The window may take half of the memory.
    for (memory, said) in [("1GiB", "more than the 512 MiB of memory"), ("4GiB", "is cut off")] {
        let run = dir.run(&["add", "idx", "b.jsonl.zst", "--memory", memory]);
        assert!(run.status == 2 && run.err.contains(said), "{}", run.err);
        let run = dir.run(&["dedup", "b.jsonl.zst", "--out", "x.jsonl", "--memory", memory]);
        assert!(run.status == 2 && run.err.contains(said), "{}", run.err);
    }
}
