//! Reader of MP4 files, independent of the writer.

use std::ops::Range;

/// Box of a file.
#[derive(Clone, Debug)]
pub struct BoxNode {
    pub box_type: String,
    /// Byte range of the content.
    pub content: Range<usize>,
    pub children: Vec<BoxNode>,
}

/// Container boxes, and the bytes before their first child.
const CONTAINERS: [(&str, usize); 9] = [
    ("moov", 0),
    ("trak", 0),
    ("mdia", 0),
    ("minf", 0),
    ("dinf", 0),
    ("stbl", 0),
    ("dref", 8),
    ("stsd", 8),
    ("avc1", 78),
];

pub fn big_endian(bytes: &[u8], at: usize, length: usize) -> u64 {
    bytes[at..at + length].iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// Parses the boxes in a range; they must fill it exactly.
pub fn parse(bytes: &[u8], range: Range<usize>) -> Vec<BoxNode> {
    let (mut nodes, mut at) = (Vec::new(), range.start);
    while at < range.end {
        let box_type = String::from_utf8(bytes[at + 4..at + 8].to_vec()).expect("a four-character code");
        let (header, size) = match big_endian(bytes, at, 4) {
            1 => (16, big_endian(bytes, at + 8, 8) as usize),
            short => (8, short as usize),
        };
        assert!(size >= header && at + size <= range.end, "{box_type} at {at} has {size} bytes");
        let content = at + header..at + size;
        let parent = CONTAINERS.iter().find(|(name, _)| *name == box_type);
        let children = parent.map_or_else(Vec::new, |(_, skip)| parse(bytes, content.start + skip..content.end));
        nodes.push(BoxNode { box_type, content, children });
        at += size;
    }
    assert_eq!(at, range.end);
    nodes
}

/// File with its boxes.
pub struct Mp4File {
    pub bytes: Vec<u8>,
    pub nodes: Vec<BoxNode>,
}

impl Mp4File {
    pub fn read(path: &std::path::Path) -> Self {
        let bytes = std::fs::read(path).expect("a video");
        let nodes = parse(&bytes, 0..bytes.len());
        Self { bytes, nodes }
    }

    /// Content of the box at the end of a path such as `moov/mvhd`.
    pub fn content(&self, path: &str) -> &[u8] {
        let mut nodes = &self.nodes;
        let mut found = None;
        for name in path.split('/') {
            let node = nodes.iter().find(|node| node.box_type == name).unwrap_or_else(|| panic!("no {name} of {path}"));
            nodes = &node.children;
            found = Some(node);
        }
        &self.bytes[found.expect("a path").content.clone()]
    }

    pub fn table(&self, name: &str) -> &[u8] {
        self.content(&format!("moov/trak/mdia/minf/stbl/{name}"))
    }

    /// Timescale and duration in ticks, of a header in version 0.
    pub fn timing(&self, path: &str) -> (u64, u64) {
        let content = self.content(path);
        assert_eq!(content[0], 0, "version of {path}");
        (big_endian(content, 12, 4), big_endian(content, 16, 4))
    }

    pub fn sample_sizes(&self) -> Vec<usize> {
        let table = self.table("stsz");
        assert_eq!(big_endian(table, 4, 4), 0, "no constant sample size");
        (0..big_endian(table, 8, 4) as usize).map(|index| big_endian(table, 12 + 4 * index, 4) as usize).collect()
    }

    pub fn sync_samples(&self) -> Vec<u64> {
        let table = self.table("stss");
        (0..big_endian(table, 4, 4) as usize).map(|index| big_endian(table, 8 + 4 * index, 4)).collect()
    }

    /// Samples of each chunk, by the runs of `stsc`.
    fn chunk_lengths(&self) -> Vec<usize> {
        let (runs, chunks) = (self.table("stsc"), big_endian(self.table("stco"), 4, 4));
        let run = |index: usize| (big_endian(runs, 8 + 12 * index, 4), big_endian(runs, 12 + 12 * index, 4) as usize);
        let count = big_endian(runs, 4, 4) as usize;
        let length = |chunk| (0..count).map(run).take_while(|(first, _)| *first <= chunk).last().expect("a run").1;
        (1..=chunks).map(length).collect()
    }

    /// Coded pictures, found by chunks as in a player.
    pub fn samples(&self) -> Vec<&[u8]> {
        let (sizes, offsets) = (self.sample_sizes(), self.table("stco"));
        let mut sizes = sizes.into_iter();
        let mut samples = Vec::new();
        for (chunk, length) in self.chunk_lengths().into_iter().enumerate() {
            let mut at = big_endian(offsets, 8 + 4 * chunk, 4) as usize;
            for size in sizes.by_ref().take(length) {
                samples.push(&self.bytes[at..at + size]);
                at += size;
            }
        }
        assert!(sizes.next().is_none(), "every sample lies in a chunk");
        samples
    }

    /// Sequence and picture parameter set of `avcC`.
    pub fn parameter_sets(&self) -> (&[u8], &[u8]) {
        let record = self.table("stsd/avc1/avcC");
        assert_eq!((record[0], record[4] & 3, record[5] & 31), (1, 3, 1));
        let sequence = big_endian(record, 6, 2) as usize;
        let picture = big_endian(record, 9 + sequence, 2) as usize;
        assert_eq!(record[1..4], record[9..12], "profile and level are those of the sequence");
        assert_eq!(record.len(), 11 + sequence + picture);
        (&record[8..8 + sequence], &record[11 + sequence..])
    }

    /// Coded picture as a byte stream with start codes (H.264 annex B).
    pub fn annex_b_stream(&self, index: usize) -> Vec<u8> {
        let (sequence, picture) = self.parameter_sets();
        let sample = self.samples()[index];
        let mut stream = Vec::new();
        let mut nal_units = vec![sequence, picture];
        let mut at = 0;
        while at < sample.len() {
            let length = big_endian(sample, at, 4) as usize;
            nal_units.push(&sample[at + 4..at + 4 + length]);
            at += 4 + length;
        }
        assert_eq!(at, sample.len());
        for nal_unit in nal_units {
            stream.extend_from_slice(&[0, 0, 0, 1]);
            stream.extend_from_slice(nal_unit);
        }
        stream
    }
}
