//! Rows of a Parquet column in their stored encoding, so that rows can be dropped without
//! conversion.

use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::DataType as Typed;

/// Why a file was not copied, as a clause.
pub type Reason = String;

/// Returns the message of an error.
pub fn said(error: impl std::fmt::Display) -> Reason {
    error.to_string()
}

/// Some rows of a column: the values, with levels that assign values to rows.
pub struct Batch<T: Typed> {
    /// The values, in their order.
    pub values: Vec<T::T>,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
    /// The maximum levels of the column. With 0, every level is 0, and no levels are stored.
    definition_max: i16,
    repetition_max: i16,
}

impl<T: Typed> Batch<T> {
    /// Returns an empty batch of a column with these maximum levels.
    pub fn new(definition_max: i16, repetition_max: i16) -> Batch<T> {
        let (values, definitions, repetitions) = Default::default();
        Batch { values, definitions, repetitions, definition_max, repetition_max }
    }

    /// Returns definition and repetition levels. `None` means a column without such levels.
    pub fn levels(&self) -> (Option<&[i16]>, Option<&[i16]>) {
        let of = |levels, max| (max > 0).then_some(levels);
        (
            of(&self.definitions[..], self.definition_max),
            of(&self.repetitions[..], self.repetition_max),
        )
    }

    /// Reads at most `rows` rows and returns their number.
    ///
    /// # Errors
    /// When they cannot be read, as a clause.
    pub fn read(&mut self, reader: &mut ColumnReaderImpl<T>, rows: usize) -> Result<usize, Reason> {
        self.values.clear();
        self.definitions.clear();
        self.repetitions.clear();
        let read = reader.read_records(
            rows,
            Some(&mut self.definitions),
            Some(&mut self.repetitions),
            &mut self.values,
        );
        read.map(|(rows, ..)| rows).map_err(said)
    }

    /// Keeps the rows marked in `is_kept`. `first` is the number of the first row. `replace` gets
    /// each kept value with its row number.
    ///
    /// # Errors
    /// When the number of values contradicts the levels.
    pub fn keep(
        &mut self,
        is_kept: &[bool],
        first: usize,
        replace: &mut dyn FnMut(usize, &mut T::T),
    ) -> Result<(), Reason> {
        let torn = || Reason::from("its values and levels do not fit each other");
        let levels = match (self.definition_max, self.repetition_max) {
            (0, _) => self.values.len(),
            _ => self.definitions.len(),
        };
        if self.repetition_max > 0 && self.repetitions.len() != levels {
            return Err(torn());
        }
        let (mut value, mut level) = (0, 0);
        let (mut values_kept, mut levels_kept) = (0, 0);
        for (row, is_kept) in (first..).zip(is_kept) {
            // A row begins with the repetition level 0.
            let mut is_first = true;
            while level < levels
                && (is_first || (self.repetition_max > 0 && self.repetitions[level] > 0))
            {
                is_first = false;
                let has_value =
                    self.definition_max == 0 || self.definitions[level] == self.definition_max;
                if *is_kept {
                    if self.definition_max > 0 {
                        self.definitions[levels_kept] = self.definitions[level];
                    }
                    if self.repetition_max > 0 {
                        self.repetitions[levels_kept] = self.repetitions[level];
                    }
                    levels_kept += 1;
                    if has_value {
                        if value >= self.values.len() {
                            return Err(torn());
                        }
                        self.values.swap(values_kept, value);
                        replace(row, &mut self.values[values_kept]);
                        values_kept += 1;
                    }
                }
                value += usize::from(has_value);
                level += 1;
            }
            if is_first {
                return Err(torn());
            }
        }
        if level != levels || value != self.values.len() {
            return Err(torn());
        }
        self.values.truncate(values_kept);
        self.definitions.truncate(levels_kept.min(self.definitions.len()));
        self.repetitions.truncate(levels_kept.min(self.repetitions.len()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_are_kept_whole(
            rows in proptest::collection::vec((any::<bool>(), proptest::collection::vec(any::<Option<i32>>(), 0..4)), 0..20),
        ) {
            // A nullable list of nullable numbers. Definition level 2 is a value.
            let levels = |kept_only: bool| {
                let mut batch = Batch::<parquet::data_type::Int32Type>::new(2, 1);
                for (_, list) in rows.iter().filter(|(is_kept, _)| *is_kept || !kept_only) {
                    if list.is_empty() {
                        batch.definitions.push(0);
                        batch.repetitions.push(0);
                    }
                    for (at, value) in list.iter().enumerate() {
                        batch.definitions.push(if value.is_some() { 2 } else { 1 });
                        batch.repetitions.push(i16::from(at > 0));
                        batch.values.extend(value);
                    }
                }
                batch
            };
            let (mut batch, expected) = (levels(false), levels(true));
            let is_kept: Vec<bool> = rows.iter().map(|(is_kept, _)| *is_kept).collect();
            let mut seen = Vec::new();
            batch.keep(&is_kept, 7, &mut |row, value| seen.push((row, *value))).unwrap();
            prop_assert_eq!(&batch.values, &expected.values);
            prop_assert_eq!(batch.definitions, expected.definitions);
            prop_assert_eq!(batch.repetitions, expected.repetitions);
            prop_assert!(seen.iter().all(|(row, _)| is_kept[row - 7]));
            prop_assert_eq!(seen.len(), expected.values.len());
        }
    }

    #[test]
    fn levels_that_do_not_fit_are_refused() {
        let batch = |definitions: &[i16], repetitions: &[i16], values: &[i32]| {
            let mut batch = Batch::<parquet::data_type::Int32Type>::new(1, 1);
            batch.definitions.extend(definitions);
            batch.repetitions.extend(repetitions);
            batch.values.extend(values);
            batch.keep(&[true, true], 0, &mut |_, _| {})
        };
        assert_eq!(batch(&[1, 0], &[0, 0], &[5]), Ok(()));
        for torn in [
            batch(&[1, 1], &[0, 0], &[5]),
            batch(&[1, 0], &[0, 0], &[5, 6]),
            batch(&[1, 1], &[0, 1], &[5, 6]),
            batch(&[1, 1, 1], &[0, 0, 0], &[5, 6, 7]),
            batch(&[1, 1], &[0], &[5, 6]),
        ] {
            assert!(torn.is_err());
        }
    }
}
