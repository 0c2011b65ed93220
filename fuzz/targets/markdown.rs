//! Bytes from libFuzzer to [`prowess_fuzz::markdown`].
#![cfg_attr(fuzzing, no_main)]

prowess_fuzz::target!(markdown);
