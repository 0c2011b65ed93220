//! Shared code of the routing benchmarks: the catalog and its messages, recombined skills, times, memory and scores.

pub mod data;
pub mod memory;
pub mod recombined;
pub mod score;
pub mod times;

use std::io::{self, Write};

/// Prints a line. Errors are ignored, because the reader may have closed the pipe.
pub fn print_line(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}
