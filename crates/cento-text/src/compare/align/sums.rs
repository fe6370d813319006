//! Compares sentences of a query and of a document as bags of words.
//!
//! Weights are added up in arrays indexed by word number, so comparing needs no sorting.

use std::ops::Range;

use super::vocabulary::Vocabulary;

/// A bag of words: the summed weight of each word.
pub struct Sums {
    /// 0 for an absent word; no present word weighs 0.
    weights: Vec<f64>,
    /// The words with a weight, in order of arrival.
    words: Vec<u32>,
}

impl Sums {
    /// Returns an empty bag with room for this many words.
    pub fn new(words: usize) -> Sums {
        Sums { weights: vec![0.0; words], words: Vec::new() }
    }

    /// Replaces the contents by the sums of these weights.
    pub fn set(&mut self, words: impl Iterator<Item = (u32, f64)>) {
        for &number in &self.words {
            self.weights[number as usize] = 0.0;
        }
        self.words.clear();
        for (number, added) in words {
            let weight = &mut self.weights[number as usize];
            if *weight == 0.0 {
                self.words.push(number);
            }
            *weight += added;
        }
    }

    /// Returns the weight of a word, or 0 if the word is absent.
    #[inline]
    pub fn weight(&self, number: u32) -> f64 {
        self.weights[number as usize]
    }

    /// Returns the weights of the present words.
    pub fn weights(&self) -> impl Iterator<Item = f64> {
        self.words.iter().map(|&number| self.weight(number))
    }

    /// Returns pairs of weights of the present words: in this bag and in `other`.
    pub fn beside(&self, other: &Sums) -> impl Iterator<Item = (f64, f64)> {
        self.words.iter().map(|&number| (self.weight(number), other.weight(number)))
    }

    /// Returns the length of the vector.
    pub fn norm(&self) -> f64 {
        self.weights().map(|weight| weight * weight).sum::<f64>().sqrt()
    }

    /// Returns whether two vectors have at least this cosine.
    pub fn are_alike(&self, other: &Sums, cosine_min: f64) -> bool {
        let product: f64 = self.beside(other).map(|(a, b)| a * b).sum();
        product >= cosine_min * self.norm() * other.norm()
    }
}

/// Reusable bags to compare sentences of a query and of a document.
pub struct Bags<'a> {
    /// The vocabulary of the query and the document.
    pub texts: &'a Vocabulary<'a>,
    sums: [Sums; 2],
}

impl<'a> Bags<'a> {
    /// Returns empty bags for these texts.
    pub fn new(texts: &'a Vocabulary<'a>) -> Bags<'a> {
        Bags { texts, sums: [(); 2].map(|()| Sums::new(texts.count())) }
    }

    /// Returns the number of words in these sentences of the query and of the document, repetitions
    /// included.
    pub fn words(&self, a: &Range<usize>, b: &Range<usize>) -> usize {
        self.texts.q().words_of(a).len() + self.texts.d().words_of(b).len()
    }

    /// Returns the bags of these sentences of the query and of the document.
    pub fn of(&mut self, a: &Range<usize>, b: &Range<usize>) -> [&Sums; 2] {
        let [of_query, of_document] = &mut self.sums;
        of_query.set(self.texts.weighed(self.texts.q().words_of(a)));
        of_document.set(self.texts.weighed(self.texts.d().words_of(b)));
        [of_query, of_document]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Returns the weights of words, added up.
    fn naive(words: &[(u32, f64)]) -> BTreeMap<u32, f64> {
        let mut sums = BTreeMap::new();
        for (number, weight) in words {
            *sums.entry(*number).or_default() += weight;
        }
        sums
    }

    #[test]
    fn bags_are_added_up_anew_each_time() {
        let texts: [&[(u32, f64)]; 4] =
            [&[(3, 1.5), (0, 2.0), (3, 0.5)], &[], &[(0, 1.0), (4, 0.25)], &[(3, 2.0)]];
        let (mut a, mut b) = (Sums::new(5), Sums::new(5));
        for first in texts {
            for second in texts {
                for (sums, text) in [(&mut a, first), (&mut b, second)] {
                    sums.set(text.iter().copied());
                }
                let (x, y) = (naive(first), naive(second));
                let norm =
                    |sums: &BTreeMap<u32, f64>| sums.values().map(|w| w * w).sum::<f64>().sqrt();
                let other = |number: &u32| y.get(number).copied().unwrap_or(0.0);
                let product: f64 = x.iter().map(|(number, weight)| weight * other(number)).sum();
                assert_eq!((a.norm(), b.norm()), (norm(&x), norm(&y)));
                for number in 0..5 {
                    assert_eq!(a.weight(number), x.get(&number).copied().unwrap_or(0.0));
                }
                let mut beside: Vec<(f64, f64)> = a.beside(&b).collect();
                let mut expected: Vec<(f64, f64)> =
                    x.iter().map(|(number, weight)| (*weight, other(number))).collect();
                beside.sort_by(|a, b| a.partial_cmp(b).unwrap());
                expected.sort_by(|a, b| a.partial_cmp(b).unwrap());
                assert_eq!(beside, expected);
                for cosine in [0.1, 0.5, 0.9] {
                    let are_alike = product >= cosine * norm(&x) * norm(&y);
                    assert_eq!(a.are_alike(&b, cosine), are_alike, "{first:?} {second:?}");
                }
            }
        }
    }
}
