//! Validation of a finite state transducer, so that a walk through it cannot leave its bytes.
//!
//! The crate `fst` trusts every address in its bytes, and panics when an address points outside.
//! This module therefore reads every node once, from the last to the first, and makes three checks:
//! the node is within the bytes, transitions lead to earlier nodes, and no key or value exceeds the
//! maximum of the reader. The layout is version 3, so Cargo.toml pins the crate: version and type
//! (`u64` each), the nodes, which follow their targets and are read from the last byte backward,
//! the number of keys and the address of the first node to be read (`u64` each), and a CRC-32
//! (`u32`), which is not checked.

const HEAD_BYTES: usize = 16;
const TAIL_BYTES: usize = 20;
const VERSION: u64 = 3;
/// The address of the node that ends a key and has no transitions. The node takes no bytes.
const END: usize = 0;
/// A node of more transitions has a table of 256 bytes, which finds a transition by its byte.
const UNINDEXED_MAX: usize = 32;
/// The limit of an output in bits. A value is the sum of the outputs on the way to its key, so the
/// limit keeps the sum within 64 bits.
const OUTPUT_BITS_MAX: u32 = 56;
/// With outputs below 2^56, the sum over this many transitions and an end fits into 64 bits.
const KEY_BYTES_MAX: usize = 64;

/// Returns the number of keys of a transducer with keys of at most `key_bytes` bytes, or `None` if
/// the transducer cannot be walked safely.
///
/// Takes about 30 ns a node, and temporary memory: three sixteenths of the bytes, and 16 bytes a
/// node.
pub fn keys(bytes: &[u8], key_bytes: usize) -> Option<u64> {
    assert!(key_bytes <= KEY_BYTES_MAX, "the outputs of longer keys might not add up");
    let nodes_end = bytes.len().checked_sub(TAIL_BYTES).filter(|&end| end >= HEAD_BYTES)?;
    let (len, root) = (uint(bytes, nodes_end, 8), uint(bytes, nodes_end + 8, 8));
    if uint(bytes, 0, 8) != VERSION {
        return None;
    }
    let root = usize::try_from(root).ok()?;
    if root == END {
        return (nodes_end == HEAD_BYTES && len == 1).then_some(len);
    }
    if root.checked_add(1) != Some(nodes_end) {
        return None;
    }
    let starts = Starts::find(bytes, root)?;
    // For each node, in the order of the addresses: the number of keys below and the maximum depth.
    let mut reached: Vec<(u64, u8)> = Vec::with_capacity(starts.count());
    for address in starts.iter() {
        let node = Node::read(bytes, address)?;
        let (mut keys, mut depth) = (u64::from(node.is_final), 0);
        for transition in 0..node.transitions {
            let (below, deep) = match node.target(bytes, transition)? {
                END => (1, 0),
                target => reached[starts.rank(target)?],
            };
            keys = keys.checked_add(below)?;
            depth = depth.max(usize::from(deep) + 1);
        }
        if keys == 0 && address != root || depth > key_bytes {
            return None;
        }
        reached.push((keys, depth as u8));
    }
    let found = reached.last().map(|reached| reached.0);
    found.filter(|&found| found == len)
}

/// Reads an unsigned little-endian integer of up to 8 bytes, which must exist.
fn uint(bytes: &[u8], at: usize, len: usize) -> u64 {
    bytes[at..at + len].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// The node at an address, entirely within the bytes.
struct Node {
    /// The address of the first byte.
    begin: usize,
    transitions: usize,
    is_final: bool,
    /// The address of the distance to the target of the first transition. The distances of the
    /// later transitions precede it. `None` if the target is the node before.
    targets: Option<usize>,
    target_bytes: usize,
}

impl Node {
    fn read(bytes: &[u8], address: usize) -> Option<Node> {
        let state = *bytes.get(address)?;
        // The unread part of the node, which ends where the bytes read so far begin.
        let mut at = Below(address);
        let has_common_input = state & 63 != 0;
        let (transitions, is_final) = match state >> 6 {
            0b11 => {
                let begin = at.take(usize::from(!has_common_input))?;
                let is_final = false;
                return Some(Node {
                    begin,
                    transitions: 1,
                    is_final,
                    targets: None,
                    target_bytes: 0,
                });
            }
            0b10 => {
                at.take(usize::from(!has_common_input))?;
                (1, false)
            }
            _ => {
                let transitions = match state & 63 {
                    // The state records already that a transition exists, so 1 is free to mean 256
                    // here.
                    0 => match bytes[at.take(1)?] {
                        1 => 256,
                        transitions => usize::from(transitions),
                    },
                    transitions => usize::from(transitions),
                };
                (transitions, state & 64 != 0)
            }
        };
        let sizes = bytes[at.take(1)?];
        let (target_bytes, output_bytes) = (usize::from(sizes >> 4), usize::from(sizes & 15));
        if target_bytes > 8 || output_bytes > 8 || target_bytes == 0 && transitions > 0 {
            return None;
        }
        if state >> 6 != 0b10 {
            at.take(transitions + if transitions > UNINDEXED_MAX { 256 } else { 0 })?;
        }
        let targets = at.0.checked_sub(target_bytes);
        at.take(transitions * target_bytes)?;
        // A final node with transitions also has an output for the key that ends there.
        for _ in 0..transitions + usize::from(is_final) {
            let output = at.take(output_bytes)?;
            if uint(bytes, output, output_bytes) >> OUTPUT_BITS_MAX != 0 {
                return None;
            }
        }
        Some(Node { begin: at.0, transitions, is_final, targets, target_bytes })
    }

    fn target(&self, bytes: &[u8], transition: usize) -> Option<usize> {
        let Some(first) = self.targets else { return self.begin.checked_sub(1) };
        match uint(bytes, first - transition * self.target_bytes, self.target_bytes) {
            0 => Some(END),
            distance => {
                let target = self.begin.checked_sub(usize::try_from(distance).ok()?)?;
                // The node at `END` takes no bytes, so no distance can lead there.
                (target != END).then_some(target)
            }
        }
    }
}

/// The exclusive end of the unread bytes of a node.
struct Below(usize);

impl Below {
    /// Moves the end down by `len` bytes, and returns the new end: the address of the first byte
    /// read.
    fn take(&mut self, len: usize) -> Option<usize> {
        self.0 = self.0.checked_sub(len).filter(|&at| at >= HEAD_BYTES)?;
        Some(self.0)
    }
}

/// The addresses of all nodes, as a bit set with ranks.
struct Starts {
    /// One bit per byte, set at the addresses of nodes.
    bits: Vec<u64>,
    /// For each word of `bits`, the number of bits set before it.
    before: Vec<u32>,
}

impl Starts {
    /// Walks through all nodes from the last to the first. `None` if a node is invalid.
    fn find(bytes: &[u8], root: usize) -> Option<Starts> {
        let mut bits = vec![0u64; bytes.len().div_ceil(64)];
        let mut address = root;
        loop {
            bits[address / 64] |= 1 << (address % 64);
            match Node::read(bytes, address)?.begin {
                HEAD_BYTES => break,
                begin => address = begin - 1,
            }
        }
        let mut count = 0u32;
        let mut before = Vec::with_capacity(bits.len());
        for word in &bits {
            before.push(count);
            count = count.checked_add(word.count_ones())?;
        }
        Some(Starts { bits, before })
    }

    fn count(&self) -> usize {
        self.bits.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns the number of nodes before the node at `address`, or `None` if no node is there.
    fn rank(&self, address: usize) -> Option<usize> {
        let word = self.bits.get(address / 64)?;
        let bit = 1u64 << (address % 64);
        let before = self.before[address / 64] + (word & (bit - 1)).count_ones();
        (word & bit != 0).then_some(before as usize)
    }

    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..).zip(&self.bits).flat_map(|(i, &word): (usize, &u64)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest.wrapping_sub(1);
                (bit < 64).then_some(64 * i + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fst::Streamer;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn transducer(entries: &BTreeMap<Vec<u8>, u64>) -> Vec<u8> {
        let mut map = fst::MapBuilder::memory();
        entries.iter().for_each(|(key, &value)| map.insert(key, value).unwrap());
        map.into_inner().unwrap()
    }

    /// Uses a transducer as cento does after the check.
    fn walk(bytes: &[u8]) -> u64 {
        let map = fst::Map::new(bytes).unwrap();
        let (mut count, mut entries) = (0, map.stream());
        while let Some((key, _)) = entries.next() {
            assert!(key.len() <= 8);
            count += 1;
            // Shared nodes let a few bytes represent very many keys.
            if count == 1000 {
                break;
            }
        }
        for key in [&b""[..], b"a", b"abcdefgh", &[0; 8], &[255; 8]] {
            map.get(key);
        }
        count
    }

    fn entries() -> impl Strategy<Value = BTreeMap<Vec<u8>, u64>> {
        let key = prop_oneof![
            prop::collection::vec(any::<u8>(), 0..=8),
            prop::collection::vec(b'a'..=b'c', 0..=8),
            any::<u8>().prop_map(|byte| vec![byte]),
        ];
        prop::collection::btree_map(key, 0..1u64 << 48, 0..300)
    }

    proptest! {
        #[test]
        fn the_output_of_the_builder_is_sound(entries in entries()) {
            let bytes = transducer(&entries);
            prop_assert_eq!(keys(&bytes, 8), Some(entries.len() as u64));
            prop_assert_eq!(walk(&bytes), entries.len().min(1000) as u64);
            let longest = entries.keys().map(Vec::len).max().unwrap_or(0);
            prop_assert_eq!(keys(&bytes, longest), Some(entries.len() as u64));
            prop_assert!(longest == 0 || keys(&bytes, longest - 1).is_none());
        }

        #[test]
        fn a_sound_automaton_can_be_walked(
            entries in entries(), changes in prop::collection::vec((any::<u16>(), any::<u8>()), 1..4),
        ) {
            let mut bytes = transducer(&entries);
            for (at, byte) in changes {
                let at = usize::from(at) % bytes.len();
                bytes[at] = byte;
            }
            if keys(&bytes, 8).is_some() {
                walk(&bytes);
            }
        }

        #[test]
        fn any_bytes_are_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let forged = [&3u64.to_le_bytes()[..], &bytes].concat();
            for bytes in [bytes, forged] {
                if keys(&bytes, 8).is_some() {
                    walk(&bytes);
                }
            }
        }
    }

    #[test]
    fn no_key_and_the_empty_key_are_transducers() {
        for entries in [BTreeMap::new(), BTreeMap::from([(Vec::new(), 0)])] {
            assert_eq!(keys(&transducer(&entries), 0), Some(entries.len() as u64));
        }
        let with_value = BTreeMap::from([(Vec::new(), 7)]);
        assert_eq!(keys(&transducer(&with_value), 0), Some(1));
    }
}
