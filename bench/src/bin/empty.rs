//! The floor of a start: a program that does nothing.

fn main() {}
