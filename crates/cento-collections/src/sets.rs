//! Disjoint sets of numbers, which are united until they are the connected parts of a graph.

/// The sets of the numbers from 0 on, each alone at first.
pub(super) struct Sets(Vec<usize>);

impl Sets {
    /// Makes a set of each of `count` numbers.
    pub fn new(count: usize) -> Sets {
        Sets((0..count).collect())
    }

    /// Returns the number that represents the set of this one: the least. It halves paths.
    pub fn of(&mut self, mut number: usize) -> usize {
        let above = &mut self.0;
        while above[number] != number {
            above[number] = above[above[number]];
            number = above[number];
        }
        number
    }

    /// Unites the sets of two numbers; returns whether they were apart.
    pub fn unite(&mut self, one: usize, other: usize) -> bool {
        let (one, other) = (self.of(one), self.of(other));
        self.0[one.max(other)] = one.min(other);
        one != other
    }
}
