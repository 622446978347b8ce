//! Checkpoints: the complete state of a world as bytes, with a checksum.
//!
//! Layout, little endian: magic `PHYXELCK`, format version (u32), length of the payload (u64), its XXH3-128 checksum
//! (u128), payload (postcard).

use crate::error::CheckpointError;
use crate::model::Models;
use crate::world::World;
use xxhash_rust::xxh3::xxh3_128;

const MAGIC: &[u8; 8] = b"PHYXELCK";
/// Format version. Incremented whenever the meaning of the payload changes.
pub const FORMAT: u32 = 14;
const HEADER: usize = 8 + 4 + 8 + 16;

/// Serialises a world.
pub fn encode(world: &World) -> Vec<u8> {
    // Serialising to memory fails only for sequences of unknown length, and a world has none.
    let payload = postcard::to_allocvec(world).unwrap_or_default();
    let mut bytes = Vec::with_capacity(HEADER + payload.len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&FORMAT.to_le_bytes());
    bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&xxh3_128(&payload).to_le_bytes());
    bytes.extend_from_slice(&payload);
    bytes
}

/// Deserialises a world written by [`encode`].
pub fn decode(bytes: &[u8]) -> Result<World, CheckpointError> {
    let damaged = |what: &str| CheckpointError::Damaged { what: what.to_string() };
    if bytes.len() < MAGIC.len() || &bytes[..MAGIC.len()] != MAGIC {
        return Err(CheckpointError::Foreign);
    }
    if bytes.len() < HEADER {
        return Err(damaged("its header is cut short"));
    }
    let found = u32::from_le_bytes(read_bytes(bytes, 8));
    if found != FORMAT {
        return Err(CheckpointError::Version { found, known: FORMAT });
    }
    let payload = &bytes[HEADER..];
    if u64::from_le_bytes(read_bytes(bytes, 12)) != payload.len() as u64 {
        return Err(damaged("its length is wrong"));
    }
    if u128::from_le_bytes(read_bytes(bytes, 20)) != xxh3_128(payload) {
        return Err(damaged("its checksum is wrong"));
    }
    let world: World = postcard::from_bytes(payload).map_err(|error| damaged(&error.to_string()))?;
    let is_consistent = world.particles.is_consistent() && world.obstacle_temperature.len() == world.obstacles.len();
    if is_consistent { Ok(world) } else { Err(damaged("its columns differ in length")) }
}

fn read_bytes<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    std::array::from_fn(|i| bytes[at + i])
}

/// Serialises the state of models, for hashes.
pub(crate) fn encode_models(models: &Models) -> Vec<u8> {
    postcard::to_allocvec(models).unwrap_or_default()
}
