//! Shapes of the bitmap of a posting list.

use roaring::RoaringBitmap;

/// A bitmap in the form of a posting list of more than 256 documents, after its length.
pub struct Bitmap {
    pub about: &'static str,
    /// First and last of each run of values.
    pub ranges: Vec<(u32, u32)>,
    pub bytes: Vec<u8>,
}

fn bitmap(about: &'static str, ranges: Vec<(u32, u32)>) -> Bitmap {
    let mut bitmap: RoaringBitmap = ranges.iter().flat_map(|&(first, last)| first..=last).collect();
    bitmap.optimize();
    let mut bytes = Vec::new();
    bitmap.serialize_into(&mut bytes).expect("memory takes every byte");
    Bitmap { about, ranges, bytes }
}

/// Every `step`th value, `count` of them.
fn every(step: u32, count: u32, first: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..count).map(move |i| (first + i * step, first + i * step))
}

/// The bitmaps of the kit.
pub fn all() -> Vec<Bitmap> {
    let container = |i: u32| i << 16;
    let run = |i: u32| (container(i) + 5, container(i) + 400);
    vec![
        bitmap("an array, without runs", every(3, 300, 7).collect()),
        bitmap("a run", vec![(100, 399)]),
        bitmap("a run of a whole container", vec![(0, 65_535)]),
        bitmap("three containers of runs: no offsets", (0..3).map(run).collect()),
        bitmap("four containers of runs: with offsets", (0..4).map(run).collect()),
        bitmap("nine containers of runs: two bytes of flags", (0..9).map(run).collect()),
        bitmap(
            "an array and runs by turns, with containers left out",
            [run(1)].into_iter().chain(every(2, 9, container(4))).chain([run(7)]).collect(),
        ),
        bitmap(
            "five arrays: offsets, and the cookie without runs",
            (0..5).flat_map(|i| every(9, 60, container(i))).collect(),
        ),
        bitmap("the largest values", vec![(u32::MAX - 256, u32::MAX)]),
    ]
}
