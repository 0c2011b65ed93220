//! Bytes from libFuzzer to [`prowess_fuzz::fix`].
#![cfg_attr(fuzzing, no_main)]

prowess_fuzz::target!(fix);
