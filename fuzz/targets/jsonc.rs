//! Bytes from libFuzzer to [`prowess_fuzz::jsonc`].
#![cfg_attr(fuzzing, no_main)]

prowess_fuzz::target!(jsonc);
