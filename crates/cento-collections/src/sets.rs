//! Disjoint sets of numbers, united to find the connected parts of a graph.

/// Sets of the numbers from 0 on, each number alone at first.
pub(super) struct Sets(Vec<usize>);

impl Sets {
    pub fn new(count: usize) -> Sets {
        Sets((0..count).collect())
    }

    /// Returns the smallest number of a set, which represents the set. Halves the paths on the way.
    pub fn of(&mut self, mut number: usize) -> usize {
        let above = &mut self.0;
        while above[number] != number {
            above[number] = above[above[number]];
            number = above[number];
        }
        number
    }

    /// Unites the sets of two numbers. Returns whether they were apart.
    pub fn unite(&mut self, one: usize, other: usize) -> bool {
        let (one, other) = (self.of(one), self.of(other));
        self.0[one.max(other)] = one.min(other);
        one != other
    }
}
