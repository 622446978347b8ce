//! A small reader of MP4 files, written from the standard and not from the writer.

use std::ops::Range;

/// A box within a file.
#[derive(Clone, Debug)]
pub struct Node {
    pub kind: String,
    /// Where its content lies.
    pub content: Range<usize>,
    pub children: Vec<Node>,
}

/// Boxes that hold boxes, and the bytes before the first of them.
const PARENTS: [(&str, usize); 9] = [
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

pub fn number(bytes: &[u8], at: usize, length: usize) -> u64 {
    bytes[at..at + length].iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// All boxes in a range; they must fill it exactly.
pub fn parse(bytes: &[u8], range: Range<usize>) -> Vec<Node> {
    let (mut nodes, mut at) = (Vec::new(), range.start);
    while at < range.end {
        let kind = String::from_utf8(bytes[at + 4..at + 8].to_vec()).expect("a kind of letters");
        let (head, length) = match number(bytes, at, 4) {
            1 => (16, number(bytes, at + 8, 8) as usize),
            short => (8, short as usize),
        };
        assert!(length >= head && at + length <= range.end, "{kind} at {at} has {length} bytes");
        let content = at + head..at + length;
        let parent = PARENTS.iter().find(|(name, _)| *name == kind);
        let children = parent.map_or_else(Vec::new, |(_, skip)| parse(bytes, content.start + skip..content.end));
        nodes.push(Node { kind, content, children });
        at += length;
    }
    assert_eq!(at, range.end);
    nodes
}

/// A whole file with its boxes.
pub struct File {
    pub bytes: Vec<u8>,
    pub nodes: Vec<Node>,
}

impl File {
    pub fn read(path: &std::path::Path) -> Self {
        let bytes = std::fs::read(path).expect("a film");
        let nodes = parse(&bytes, 0..bytes.len());
        Self { bytes, nodes }
    }

    /// Content of the box at the end of a path such as `moov/mvhd`.
    pub fn content(&self, path: &str) -> &[u8] {
        let mut nodes = &self.nodes;
        let mut found = None;
        for name in path.split('/') {
            let node = nodes.iter().find(|node| node.kind == name).unwrap_or_else(|| panic!("no {name} of {path}"));
            nodes = &node.children;
            found = Some(node);
        }
        &self.bytes[found.expect("a path").content.clone()]
    }

    pub fn table(&self, name: &str) -> &[u8] {
        self.content(&format!("moov/trak/mdia/minf/stbl/{name}"))
    }

    /// Ticks per second and all ticks, of a header in version 0.
    pub fn timing(&self, path: &str) -> (u64, u64) {
        let content = self.content(path);
        assert_eq!(content[0], 0, "version of {path}");
        (number(content, 12, 4), number(content, 16, 4))
    }

    pub fn sizes(&self) -> Vec<usize> {
        let table = self.table("stsz");
        assert_eq!(number(table, 4, 4), 0, "no common size");
        (0..number(table, 8, 4) as usize).map(|index| number(table, 12 + 4 * index, 4) as usize).collect()
    }

    pub fn keys(&self) -> Vec<u64> {
        let table = self.table("stss");
        (0..number(table, 4, 4) as usize).map(|index| number(table, 8 + 4 * index, 4)).collect()
    }

    /// Pictures of each chunk, by the runs of `stsc`.
    fn chunk_lengths(&self) -> Vec<usize> {
        let (runs, chunks) = (self.table("stsc"), number(self.table("stco"), 4, 4));
        let run = |index: usize| (number(runs, 8 + 12 * index, 4), number(runs, 12 + 12 * index, 4) as usize);
        let count = number(runs, 4, 4) as usize;
        let length = |chunk| (0..count).map(run).take_while(|(first, _)| *first <= chunk).last().expect("a run").1;
        (1..=chunks).map(length).collect()
    }

    /// Each coded picture, found by chunks as a player does.
    pub fn samples(&self) -> Vec<&[u8]> {
        let (sizes, offsets) = (self.sizes(), self.table("stco"));
        let mut sizes = sizes.into_iter();
        let mut samples = Vec::new();
        for (chunk, length) in self.chunk_lengths().into_iter().enumerate() {
            let mut at = number(offsets, 8 + 4 * chunk, 4) as usize;
            for size in sizes.by_ref().take(length) {
                samples.push(&self.bytes[at..at + size]);
                at += size;
            }
        }
        assert!(sizes.next().is_none(), "every picture lies in a chunk");
        samples
    }

    /// Sequence and picture parameters of `avcC`.
    pub fn parameter_sets(&self) -> (&[u8], &[u8]) {
        let record = self.table("stsd/avc1/avcC");
        assert_eq!((record[0], record[4] & 3, record[5] & 31), (1, 3, 1));
        let sequence = number(record, 6, 2) as usize;
        let picture = number(record, 9 + sequence, 2) as usize;
        assert_eq!(record[1..4], record[9..12], "profile and level are those of the sequence");
        assert_eq!(record.len(), 11 + sequence + picture);
        (&record[8..8 + sequence], &record[11 + sequence..])
    }

    /// A coded picture with start codes, as decoders want it.
    pub fn stream(&self, number_of_picture: usize) -> Vec<u8> {
        let (sequence, picture) = self.parameter_sets();
        let sample = self.samples()[number_of_picture];
        let mut stream = Vec::new();
        let mut units = vec![sequence, picture];
        let mut at = 0;
        while at < sample.len() {
            let length = number(sample, at, 4) as usize;
            units.push(&sample[at + 4..at + 4 + length]);
            at += 4 + length;
        }
        assert_eq!(at, sample.len());
        for unit in units {
            stream.extend_from_slice(&[0, 0, 0, 1]);
            stream.extend_from_slice(unit);
        }
        stream
    }
}
