#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use phyxel_fuzz::numbers::replace_number;

fuzz_target!(|bytes: &[u8]| {
    phyxel_fuzz::readers::read("scene", bytes);
});

fuzz_mutator!(|bytes: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let changed = if seed % 4 == 0 { None } else { replace_number(&bytes[..size], max_size, seed / 4) };
    match changed {
        Some(changed) => {
            bytes[..changed.len()].copy_from_slice(&changed);
            changed.len()
        }
        None => fuzzer_mutate(bytes, size, max_size),
    }
});
