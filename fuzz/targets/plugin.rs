//! Bytes from libFuzzer to [`prowess_fuzz::plugin`].
#![cfg_attr(fuzzing, no_main)]

prowess_fuzz::target!(plugin);
