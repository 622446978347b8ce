//! A world as bytes, complete or refused.
//!
//! Layout, little endian: the magic `PHYXELCK`, the format's number (u32), the length of the payload (u64), its
//! XXH3-128 checksum (u128), the payload (postcard).

use crate::error::CheckpointError;
use crate::model::Model;
use crate::world::World;
use xxhash_rust::xxh3::xxh3_128;

const MAGIC: &[u8; 8] = b"PHYXELCK";
/// Number of the format. Raised whenever the meaning of the payload changes.
pub const FORMAT: u32 = 13;
const HEADER: usize = 8 + 4 + 8 + 16;

/// The world as bytes.
pub fn encode(world: &World) -> Vec<u8> {
    // Writing to memory fails only for types that have no fixed length, and there are none in a world.
    let payload = postcard::to_allocvec(world).unwrap_or_default();
    let mut bytes = Vec::with_capacity(HEADER + payload.len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&FORMAT.to_le_bytes());
    bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&xxh3_128(&payload).to_le_bytes());
    bytes.extend_from_slice(&payload);
    bytes
}

/// The world that [`encode`] wrote.
pub fn decode(bytes: &[u8]) -> Result<World, CheckpointError> {
    let damaged = |what: &str| CheckpointError::Damaged { what: what.to_string() };
    if bytes.len() < MAGIC.len() || &bytes[..MAGIC.len()] != MAGIC {
        return Err(CheckpointError::Foreign);
    }
    if bytes.len() < HEADER {
        return Err(damaged("its header is cut short"));
    }
    let found = u32::from_le_bytes(take(bytes, 8));
    if found != FORMAT {
        return Err(CheckpointError::Version { found, known: FORMAT });
    }
    let payload = &bytes[HEADER..];
    if u64::from_le_bytes(take(bytes, 12)) != payload.len() as u64 {
        return Err(damaged("its length is wrong"));
    }
    if u128::from_le_bytes(take(bytes, 20)) != xxh3_128(payload) {
        return Err(damaged("its checksum is wrong"));
    }
    let world: World = postcard::from_bytes(payload).map_err(|error| damaged(&error.to_string()))?;
    let whole = world.particles.is_consistent() && world.obstacle_warmth.len() == world.obstacles.len();
    if whole { Ok(world) } else { Err(damaged("its columns differ in length")) }
}

fn take<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    std::array::from_fn(|i| bytes[at + i])
}

/// The state of models as bytes, for fingerprints.
pub(crate) fn encode_models(models: &[Model]) -> Vec<u8> {
    postcard::to_allocvec(models).unwrap_or_default()
}
