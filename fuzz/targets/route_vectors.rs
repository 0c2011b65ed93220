//! Bytes from libFuzzer to [`prowess_fuzz::route_vectors`].
#![cfg_attr(fuzzing, no_main)]

prowess_fuzz::target!(route_vectors);
