//! The words at the ends of two wordings that only one wording has.

use similar::DiffOp;

pub const SIDES: [Side; 2] = [Side::Before, Side::After];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    Before,
    After,
}

/// The words at the ends of the earlier and of the later wording, beyond their common words. Words
/// are in order from the inside to the outside.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ends {
    before: [Vec<u64>; 2],
    after: [Vec<u64>; 2],
}

impl Ends {
    /// Finds the words from the differences between two wordings.
    ///
    /// Common words count as outside if at least as many words differ further inside, because such
    /// words may be common by chance, or repeated: in "and the earth. And the earth was", one
    /// wording has half.
    pub fn new(differences: &[DiffOp], earlier: &[u64], later: &[u64]) -> Ends {
        let outside = |ops: &mut dyn Iterator<Item = &DiffOp>| {
            let (mut balance, mut least, mut outside) = (0i64, 0i64, [0, 0]);
            let mut passed = [0, 0];
            for op in ops {
                let [removed, added] = [op.old_range().len(), op.new_range().len()];
                passed = [passed[0] + removed, passed[1] + added];
                if let DiffOp::Equal { len, .. } = op {
                    balance += *len as i64;
                    continue;
                }
                balance -= removed.max(added) as i64;
                if balance <= least {
                    (least, outside) = (balance, passed);
                }
            }
            outside
        };
        let before = outside(&mut differences.iter());
        let after = outside(&mut differences.iter().rev());
        let has_most_inside = [earlier, later]
            .iter()
            .zip([0, 1])
            .all(|(all, side)| 2 * (before[side] + after[side]) <= all.len());
        if !has_most_inside {
            return Ends::default();
        }
        let first = |words: &[u64], count: usize| words[..count].iter().rev().copied().collect();
        let last = |words: &[u64], count: usize| words[words.len() - count..].to_vec();
        Ends {
            before: [first(earlier, before[0]), first(later, before[1])],
            after: [last(earlier, after[0]), last(later, after[1])],
        }
    }

    /// Returns the words of the earlier and of the later wording on one side.
    pub fn of(&self, side: Side) -> &[Vec<u64>; 2] {
        match side {
            Side::Before => &self.before,
            Side::After => &self.after,
        }
    }
}
