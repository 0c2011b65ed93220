//! Bytes from libFuzzer to [`prowess_fuzz::dependencies`].
#![cfg_attr(fuzzing, no_main)]

prowess_fuzz::target!(dependencies);
