#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    phyxel_fuzz::readers::read("vtk", bytes);
});
