//! Bytes from libFuzzer to [`prowess_fuzz::skill_md`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| prowess_fuzz::skill_md(bytes));
