//! Groups seeds that are close together in both texts.
//!
//! Seeds sorted by place in one text are cut wherever the gap between neighbors is too large. The
//! pieces are then cut the same way in the second text, which may open gaps in the first text,
//! until no gap is left. Sorting every piece anew after every cut would take quadratic time if
//! every cut removes a single seed, as in sentences laid out like a spiral. So the seeds of a group
//! are linked in the order of both texts, and a cut removes every piece but the longest. A removed
//! seed lands in a piece at most half as long, which happens at most log n times. Removing a seed
//! also notes the gap that the seed had filled.

use super::NONE;
use crate::error::Result;
use crate::runtime::Steps;

/// A sentence of the query and a similar sentence of the document.
pub type Seed = (u32, u32);

/// Returns groups of seeds with at most `gap_max` sentences between neighbors, in both texts.
/// Returns no groups if grouping takes more steps than allowed.
///
/// # Errors
/// [`Error::Cancelled`](crate::Error::Cancelled) when it is stopped.
pub fn groups(seeds: Vec<Seed>, gap_max: usize, steps: &mut Steps<'_>) -> Result<Vec<Vec<Seed>>> {
    groups_within(seeds, [gap_max; 2], steps)
}

/// Groups seeds like [`groups`], with a separate bound for the gaps of each text.
///
/// # Errors
/// As [`groups`].
pub fn groups_within(
    seeds: Vec<Seed>,
    gaps_max: [usize; 2],
    steps: &mut Steps<'_>,
) -> Result<Vec<Vec<Seed>>> {
    let count = seeds.len();
    if count == 0 || !steps.take(2 * sort_steps(count))? {
        return Ok(Vec::new());
    }
    let mut linked = GroupedSeeds {
        seeds,
        links: [(); 2].map(|()| vec![GroupLink { before: NONE, after: NONE }; count]),
        group_of: vec![0; count],
        groups: 1,
        distances_max: gaps_max.map(|gap_max| gap_max as u32 + 1),
    };
    let all: Vec<u32> = (0..count as u32).collect();
    let mut open = vec![linked.group(0, all)];
    let mut done = Vec::new();
    while let Some(group) = open.pop() {
        // Gaps in the query are cut first.
        match (0..2).find(|&side| !group.gaps[side].is_empty()) {
            None => done.push(linked.walk(&group, 1).collect()),
            Some(side) => match linked.cut(group, side, steps)? {
                Some(pieces) => open.extend(pieces),
                None => return Ok(Vec::new()),
            },
        }
    }
    Ok(done)
}

fn sort_steps(count: usize) -> u64 {
    count as u64 * u64::from(count.ilog2() + 1)
}

/// The previous and the next seed of the group, in the order of a text.
#[derive(Clone, Copy)]
struct GroupLink {
    before: u32,
    after: u32,
}

/// All seeds, with links between the seeds of a group.
struct GroupedSeeds {
    seeds: Vec<Seed>,
    /// Links in the order of the query, and of the document.
    links: [Vec<GroupLink>; 2],
    /// The numbers of groups, by seed.
    group_of: Vec<u32>,
    groups: u32,
    /// The maximum distance of neighbors, in each text.
    distances_max: [u32; 2],
}

/// A group, as the heads of its linked lists.
struct SeedGroup {
    number: u32,
    /// The first seed in the order of the query, and of the document.
    first: [u32; 2],
    /// Seeds before a gap that is too large, in each text. A seed may be listed twice, or be taken
    /// out already.
    gaps: [Vec<u32>; 2],
}

impl GroupedSeeds {
    /// Returns the place of a seed in the order of a text.
    fn place(&self, side: usize, seed: u32) -> (u32, u32) {
        let (a, b) = self.seeds[seed as usize];
        if side == 0 { (a, b) } else { (b, a) }
    }

    fn is_gap(&self, side: usize, before: u32, after: u32) -> bool {
        self.place(side, after).0 - self.place(side, before).0 > self.distances_max[side]
    }

    /// Builds a group from seeds that are not linked to others.
    fn group(&mut self, number: u32, mut seeds: Vec<u32>) -> SeedGroup {
        let mut group = SeedGroup { number, first: [NONE; 2], gaps: [Vec::new(), Vec::new()] };
        for side in 0..2 {
            seeds.sort_unstable_by_key(|&seed| self.place(side, seed));
            group.first[side] = seeds[0];
            let mut before = NONE;
            for (i, &seed) in seeds.iter().enumerate() {
                let after = seeds.get(i + 1).copied().unwrap_or(NONE);
                self.links[side][seed as usize] = GroupLink { before, after };
                if after != NONE && self.is_gap(side, seed, after) {
                    group.gaps[side].push(seed);
                }
                before = seed;
            }
        }
        group
    }

    /// Returns the seeds of a group in the order of a text.
    fn walk(&self, group: &SeedGroup, side: usize) -> impl Iterator<Item = Seed> {
        self.from(group.first[side], side).map(|seed| self.seeds[seed as usize])
    }

    /// Returns the seeds of a group from this one on.
    fn from(&self, first: u32, side: usize) -> impl Iterator<Item = u32> {
        let after = move |seed: &u32| Some(self.links[side][*seed as usize].after);
        let some = |seed: &u32| *seed != NONE;
        std::iter::successors(Some(first).filter(some), move |seed| after(seed).filter(some))
    }

    /// Cuts a group at its gaps in a text and returns the pieces in the order of the text, or
    /// `None` after too many steps.
    fn cut(
        &mut self,
        group: SeedGroup,
        side: usize,
        steps: &mut Steps<'_>,
    ) -> Result<Option<Vec<SeedGroup>>> {
        let SeedGroup { number, mut first, mut gaps } = group;
        let mut ends = std::mem::take(&mut gaps[side]);
        ends.sort_unstable_by_key(|&seed| self.place(side, seed));
        ends.dedup();
        let mut starts = vec![first[side]];
        for &end in &ends {
            let start = std::mem::replace(&mut self.links[side][end as usize].after, NONE);
            self.links[side][start as usize].before = NONE;
            starts.push(start);
        }
        let longest = self.longest(&starts, side);
        let mut pieces = Vec::with_capacity(starts.len());
        for (i, start) in starts.into_iter().enumerate() {
            if i == longest {
                // The longest piece stays linked, and only the shorter pieces are taken out.
                pieces.push(None);
                first[side] = start;
                continue;
            }
            let seeds: Vec<u32> = self.from(start, side).collect();
            if !steps.take(2 * sort_steps(seeds.len()) + seeds.len() as u64)? {
                return Ok(None);
            }
            let other = 1 - side;
            for &seed in &seeds {
                self.take_out(seed, other, &mut first[other], &mut gaps[other]);
            }
            let number = self.groups;
            self.groups += 1;
            for &seed in &seeds {
                self.group_of[seed as usize] = number;
            }
            pieces.push(Some(self.group(number, seeds)));
        }
        let (links, group_of) = (&self.links[1 - side], &self.group_of);
        gaps[1 - side].retain(|&seed| {
            group_of[seed as usize] == number && links[seed as usize].after != NONE
        });
        let mut rest = Some(SeedGroup { number, first, gaps });
        Ok(Some(pieces.into_iter().filter_map(|piece| piece.or_else(|| rest.take())).collect()))
    }

    /// Returns the index of the longest piece, given the start of each piece. Walking all pieces in
    /// parallel takes at most twice as many steps as the shorter pieces have seeds.
    fn longest(&self, starts: &[u32], side: usize) -> usize {
        let mut open: Vec<(usize, u32)> = starts.iter().copied().enumerate().collect();
        let mut last = 0;
        while open.len() > 1 {
            open.retain_mut(|(piece, seed)| {
                last = *piece;
                *seed = self.links[side][*seed as usize].after;
                *seed != NONE
            });
        }
        open.first().map_or(last, |&(piece, _)| piece)
    }

    /// Takes a seed out of its group's order of a text, and notes a gap that opens.
    fn take_out(&mut self, seed: u32, side: usize, first: &mut u32, gaps: &mut Vec<u32>) {
        let GroupLink { before, after } = self.links[side][seed as usize];
        match before {
            NONE => *first = after,
            before => self.links[side][before as usize].after = after,
        }
        if after != NONE {
            self.links[side][after as usize].before = before;
            if before != NONE && self.is_gap(side, before, after) {
                gaps.push(before);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::Stop;
    use proptest::prelude::*;

    /// Follows the paper: every piece is sorted and cut anew.
    fn naive(seeds: Vec<Seed>, gap_max: usize) -> Vec<Vec<Seed>> {
        let cut = |seeds: &[Seed], of: fn(&Seed) -> u32| -> Vec<Vec<Seed>> {
            let are_near = |a: &Seed, b: &Seed| (of(b) - of(a)) as usize <= gap_max + 1;
            seeds.chunk_by(are_near).map(<[Seed]>::to_vec).collect()
        };
        let (mut done, mut open) = (Vec::new(), vec![seeds]);
        while let Some(mut group) = open.pop() {
            group.sort_unstable();
            let mut pieces = cut(&group, |seed| seed.0);
            if pieces.len() == 1 {
                group.sort_unstable_by_key(|seed| (seed.1, seed.0));
                pieces = cut(&group, |seed| seed.1);
            }
            match pieces.len() {
                0 => {}
                1 => done.append(&mut pieces),
                _ => open.append(&mut pieces),
            }
        }
        done
    }

    fn all(seeds: &[Seed], gap_max: usize) -> (Vec<Vec<Seed>>, u64) {
        let mut steps = Steps::unbounded(Stop::NEVER);
        let groups = groups(seeds.to_vec(), gap_max, &mut steps).unwrap();
        (groups, steps.taken())
    }

    /// Returns seeds in a spiral, where cuts take off one seed at a time, in alternating texts:
    /// once a seed is gone, nothing holds the next seed in the opposite text.
    fn spiral(count: u32, gap_max: usize) -> Vec<Seed> {
        let far = gap_max as u32 + 1;
        (0..count).map(|i| ((i ^ 1) * far, ((i + 1) ^ 1) * far)).collect()
    }

    #[test]
    fn a_spiral_of_seeds_takes_no_quadratic_time() {
        for count in [100, 1_000, 30_000] {
            for gap_max in [0, 1, 4] {
                let (groups, steps) = all(&spiral(count, gap_max), gap_max);
                assert_eq!(groups.len(), count as usize);
                let bound = 8 * u64::from(count) * u64::from(count.ilog2() + 1);
                assert!(steps <= bound, "{count} seeds took {steps} steps");
            }
        }
    }

    #[test]
    fn without_steps_there_are_no_groups() {
        let mut steps = Steps::new(100, Stop::NEVER);
        assert!(groups(spiral(1000, 0), 0, &mut steps).unwrap().is_empty());
        assert!(!steps.is_complete());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn groups_are_those_of_cutting_again_and_again(
            seeds in proptest::collection::btree_set((0u32..60, 0u32..60), 0..120),
            wide in proptest::collection::btree_set((0u32..400, 0u32..400), 0..120),
            gap_max in 0usize..5,
        ) {
            for seeds in [seeds, wide] {
                let seeds: Vec<Seed> = seeds.into_iter().collect();
                prop_assert_eq!(all(&seeds, gap_max).0, naive(seeds, gap_max));
            }
        }

        #[test]
        fn groups_of_permuted_sentences_are_those_of_cutting_again_and_again(
            order in Just((0u32..150).collect::<Vec<u32>>()).prop_shuffle(),
            turns in 0u32..150, gap_max in 0usize..5,
        ) {
            let seeds: Vec<Seed> = (0..).zip(order).collect();
            prop_assert_eq!(all(&seeds, gap_max).0, naive(seeds, gap_max));
            let seeds = spiral(turns, gap_max);
            prop_assert_eq!(all(&seeds, gap_max).0, naive(seeds, gap_max));
        }
    }
}
