//! Compressed sparse rows (CSR): lists of entries by row, one after the other in one array.

use std::ops::Range;

/// Lists of entries by row, in compressed sparse row form.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Csr<T> {
    /// First entry of each row, and the end of the last.
    offsets: Vec<u32>,
    /// Row by row.
    entries: Vec<T>,
}

impl<T> Default for Csr<T> {
    /// No rows.
    fn default() -> Self {
        Self { offsets: vec![0], entries: Vec::new() }
    }
}

impl<T: Copy + Default> Csr<T> {
    /// Sorts entries by row, from pairs of row and entry. The order within a row is that of the pairs, which are
    /// visited twice: to count, and to fill.
    pub fn new<I: Iterator<Item = (u32, T)>>(row_count: usize, pairs: impl Fn() -> I) -> Self {
        let mut lengths = vec![0u32; row_count];
        pairs().for_each(|(row, _)| lengths[row as usize] += 1);
        Self::with_lengths(lengths, pairs())
    }

    /// Sorts entries by row, where the number of entries of each row is known.
    pub fn with_lengths(lengths: impl IntoIterator<Item = u32>, pairs: impl Iterator<Item = (u32, T)>) -> Self {
        let mut offsets = vec![0];
        let mut end = 0;
        offsets.extend(lengths.into_iter().map(|length| {
            end += length;
            end
        }));
        let mut next = offsets.clone();
        let mut entries = vec![T::default(); end as usize];
        for (row, entry) in pairs {
            let next = &mut next[row as usize];
            entries[*next as usize] = entry;
            *next += 1;
        }
        Self { offsets, entries }
    }
}

impl<T> Csr<T> {
    /// Concatenates rows.
    pub fn from_rows<R: IntoIterator<Item = T>>(rows: impl IntoIterator<Item = R>) -> Self {
        let (mut offsets, mut entries) = (vec![0], Vec::new());
        for row in rows {
            entries.extend(row);
            offsets.push(entries.len() as u32);
        }
        Self { offsets, entries }
    }

    /// The first entry of each row with the end of the last, and the entries.
    pub fn into_parts(self) -> (Vec<u32>, Vec<T>) {
        (self.offsets, self.entries)
    }

    /// Number of rows.
    pub fn row_count(&self) -> usize {
        self.offsets.len() - 1
    }

    /// All entries, row by row.
    pub fn entries(&self) -> &[T] {
        &self.entries
    }

    /// Indices of the entries of a row.
    #[inline]
    pub fn range(&self, row: usize) -> Range<usize> {
        self.offsets[row] as usize..self.offsets[row + 1] as usize
    }

    /// Entries of a row.
    #[inline]
    pub fn row(&self, row: usize) -> &[T] {
        &self.entries[self.range(row)]
    }

    /// Entries of each of consecutive rows.
    #[inline]
    pub fn rows(&self, rows: Range<usize>) -> impl Iterator<Item = &[T]> {
        self.offsets[rows.start..=rows.end].windows(2).map(|ends| &self.entries[ends[0] as usize..ends[1] as usize])
    }

    /// Entries of each row, for changes.
    pub fn rows_mut(&mut self) -> Vec<&mut [T]> {
        let mut remaining = &mut self.entries[..];
        let lengths = self.offsets.windows(2).map(|ends| (ends[1] - ends[0]) as usize);
        lengths.filter_map(|length| remaining.split_off_mut(..length)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_a_row_keep_the_order_of_the_pairs() {
        let pairs = [(2, 'a'), (0, 'b'), (2, 'c'), (3, 'd'), (0, 'e')];
        let csr = Csr::new(5, || pairs.into_iter());
        let rows: Vec<&[char]> = csr.rows(0..csr.row_count()).collect();
        assert_eq!(rows, [&['b', 'e'][..], &[], &['a', 'c'], &['d'], &[]]);
        assert_eq!((csr.row(2), csr.range(2), csr.entries().len()), (rows[2], 2..4, 5));
        assert_eq!(csr, Csr::with_lengths([2, 0, 2, 1, 0], pairs.into_iter()));
        assert_eq!(csr, Csr::from_rows(rows.iter().map(|row| row.iter().copied())));
    }

    #[test]
    fn rows_can_be_changed_one_by_one() {
        let mut csr = Csr::from_rows([vec![3, 1, 2], vec![], vec![5, 4]]);
        csr.rows_mut().into_iter().for_each(<[i32]>::sort_unstable);
        assert_eq!(csr, Csr::from_rows([vec![1, 2, 3], vec![], vec![4, 5]]));
        assert_eq!(Csr::<u8>::new(0, std::iter::empty).row_count(), 0);
    }
}
