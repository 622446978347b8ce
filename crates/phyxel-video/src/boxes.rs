//! Serialisation of boxes, the elements of MP4 files: size, type, content (ISO/IEC 14496-12, 4.2). Integers are
//! big-endian.

/// Four-character code of a box.
pub(crate) type BoxType = [u8; 4];

/// Buffer to which boxes are written.
#[derive(Clone, Debug, Default)]
pub(crate) struct BoxWriter(Vec<u8>);

impl BoxWriter {
    /// Returns the buffer.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Writes a box whose content `write_content` writes.
    pub(crate) fn write_box(&mut self, box_type: &BoxType, write_content: impl FnOnce(&mut Self)) {
        let start = self.0.len();
        self.u32(0);
        self.bytes(box_type);
        write_content(self);
        // Boxes in memory are tables of samples, some bytes for each of at most 2^32.
        let size = u32::try_from(self.0.len() - start).unwrap_or(u32::MAX);
        self.0[start..start + 4].copy_from_slice(&size.to_be_bytes());
    }

    /// Writes a full box, which begins with a version and flags.
    pub(crate) fn write_full_box(
        &mut self,
        box_type: &BoxType,
        version: u8,
        flags: u32,
        write_content: impl FnOnce(&mut Self),
    ) {
        self.write_box(box_type, |inner| {
            inner.u32(u32::from(version) << 24 | flags);
            write_content(inner);
        });
    }

    /// Writes raw bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Writes zero bytes.
    pub(crate) fn zeros(&mut self, count: usize) {
        self.0.resize(self.0.len() + count, 0);
    }

    /// Writes an 8-bit integer.
    pub(crate) fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    /// Writes a 16-bit integer.
    pub(crate) fn u16(&mut self, value: u16) {
        self.bytes(&value.to_be_bytes());
    }

    /// Writes a 32-bit integer.
    pub(crate) fn u32(&mut self, value: u32) {
        self.bytes(&value.to_be_bytes());
    }

    /// Writes an integer of 32 bits in version 0 of a box, of 64 bits in version 1.
    pub(crate) fn u32_or_u64(&mut self, version: u8, value: u64) {
        if version == 0 {
            self.u32(u32::try_from(value).unwrap_or(u32::MAX));
        } else {
            self.bytes(&value.to_be_bytes());
        }
    }

    /// Writes the number of entries, then the entries.
    pub(crate) fn u32_table(&mut self, entries: impl ExactSizeIterator<Item = u32>) {
        self.u32(entries.len() as u32);
        entries.for_each(|entry| self.u32(entry));
    }
}

/// Version of a box in which an integer fits.
pub(crate) fn box_version(value: u64) -> u8 {
    u8::from(value > u64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_box_includes_its_children() {
        let mut boxes = BoxWriter::default();
        boxes.write_box(b"moov", |inner| {
            inner.write_full_box(b"test", 1, 7, |inner| inner.u16(258));
            inner.u8(9);
        });
        let expected = [&[0, 0, 0, 23][..], b"moov", &[0, 0, 0, 14], b"test", &[1, 0, 0, 7, 1, 2, 9]].concat();
        assert_eq!(boxes.into_bytes(), expected);
    }

    #[test]
    fn large_integers_need_version_one() {
        assert_eq!(box_version(u64::from(u32::MAX)), 0);
        assert_eq!(box_version(u64::from(u32::MAX) + 1), 1);
        let mut boxes = BoxWriter::default();
        boxes.u32_or_u64(0, 5);
        boxes.u32_or_u64(1, 1 << 32);
        assert_eq!(boxes.into_bytes(), [0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 0]);
    }
}
