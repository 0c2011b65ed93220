//! Bytes from libFuzzer to [`prowess_fuzz::archive`].
#![cfg_attr(fuzzing, no_main)]

prowess_fuzz::target!(archive);
