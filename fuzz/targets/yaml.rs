//! Bytes from libFuzzer to [`prowess_fuzz::yaml`].
#![cfg_attr(fuzzing, no_main)]

prowess_fuzz::target!(yaml);
