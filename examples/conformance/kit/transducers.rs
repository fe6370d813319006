//! Forms of a node of the transducer of a term index.

/// A transducer that would need too large a segment.
pub struct Transducer {
    pub about: &'static str,
    /// Keys, ascending, and their values.
    pub entries: Vec<(Vec<u8>, u64)>,
    pub bytes: Vec<u8>,
}

fn transducer(about: &'static str, entries: Vec<(Vec<u8>, u64)>) -> Transducer {
    let mut map = fst::MapBuilder::memory();
    for (key, value) in &entries {
        map.insert(key, *value).expect("the keys ascend");
    }
    let bytes = map.into_inner().expect("memory takes every byte");
    Transducer { about, entries, bytes }
}

/// The transducers of the kit. Records are 780 bytes, as with keys of five bytes.
pub fn all() -> Vec<Transducer> {
    let numbered = |keys: Vec<Vec<u8>>| keys.into_iter().zip((0..).step_by(780)).collect();
    let two = |i: u16| if i == 0 { vec![] } else { (i * 250).to_be_bytes().to_vec() };
    let deep = (0..300u64).map(|i| match i % 4 {
        0 => i,
        1 => i << 7,
        2 => 0x61_0000_0000 | i << 17,
        _ => i << 29,
    });
    let mut deep: Vec<Vec<u8>> = deep
        .map(|key| {
            let key = key.to_be_bytes()[3..].to_vec();
            let zeros = key.iter().rev().take_while(|&&byte| byte == 0).count();
            key[..5 - zeros].to_vec()
        })
        .collect();
    deep.sort();
    deep.dedup();
    vec![
        transducer(
            "a node of more than 32 ways, which has a table",
            numbered((0..160).map(two).collect()),
        ),
        transducer("a node of 256 ways", numbered((0..=255).map(|byte| vec![byte]).collect())),
        transducer("keys of no byte to five, and nodes of each form", numbered(deep)),
    ]
}
