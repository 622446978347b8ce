//! Boxes, the bricks of MP4 files: length, kind, content (ISO/IEC 14496-12, 4.2). Numbers are big-endian.

/// Kind of a box.
pub(crate) type Kind = [u8; 4];

/// Bytes in memory that boxes are written to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Boxes(Vec<u8>);

impl Boxes {
    /// What was written.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// A box with what `fill` writes.
    pub(crate) fn put(&mut self, kind: &Kind, fill: impl FnOnce(&mut Self)) {
        let start = self.0.len();
        self.u32(0);
        self.bytes(kind);
        fill(self);
        // A box in memory is an index of pictures, some bytes for each of at most 2^32.
        let length = u32::try_from(self.0.len() - start).unwrap_or(u32::MAX);
        self.0[start..start + 4].copy_from_slice(&length.to_be_bytes());
    }

    /// A box that begins with a version and flags.
    pub(crate) fn put_full(&mut self, kind: &Kind, version: u8, flags: u32, fill: impl FnOnce(&mut Self)) {
        self.put(kind, |inner| {
            inner.u32(u32::from(version) << 24 | flags);
            fill(inner);
        });
    }

    /// Bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Bytes of value 0.
    pub(crate) fn zeros(&mut self, count: usize) {
        self.0.resize(self.0.len() + count, 0);
    }

    /// A number of one byte.
    pub(crate) fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    /// A number of two bytes.
    pub(crate) fn u16(&mut self, value: u16) {
        self.bytes(&value.to_be_bytes());
    }

    /// A number of four bytes.
    pub(crate) fn u32(&mut self, value: u32) {
        self.bytes(&value.to_be_bytes());
    }

    /// A number of eight bytes in version 1 of a box, of four in version 0.
    pub(crate) fn wide(&mut self, version: u8, value: u64) {
        if version == 0 {
            self.u32(u32::try_from(value).unwrap_or(u32::MAX));
        } else {
            self.bytes(&value.to_be_bytes());
        }
    }

    /// How many entries follow, then the entries.
    pub(crate) fn list(&mut self, entries: impl ExactSizeIterator<Item = u32>) {
        self.u32(entries.len() as u32);
        entries.for_each(|entry| self.u32(entry));
    }
}

/// The version in which a number fits.
pub(crate) fn version_for(value: u64) -> u8 {
    u8::from(value > u64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_tells_its_length_with_all_it_holds() {
        let mut boxes = Boxes::default();
        boxes.put(b"moov", |inner| {
            inner.put_full(b"test", 1, 7, |inner| inner.u16(258));
            inner.u8(9);
        });
        let expected = [&[0, 0, 0, 23][..], b"moov", &[0, 0, 0, 14], b"test", &[1, 0, 0, 7, 1, 2, 9]].concat();
        assert_eq!(boxes.into_bytes(), expected);
    }

    #[test]
    fn large_numbers_take_the_second_version() {
        assert_eq!(version_for(u64::from(u32::MAX)), 0);
        assert_eq!(version_for(u64::from(u32::MAX) + 1), 1);
        let mut boxes = Boxes::default();
        boxes.wide(0, 5);
        boxes.wide(1, 1 << 32);
        assert_eq!(boxes.into_bytes(), [0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 0]);
    }
}
