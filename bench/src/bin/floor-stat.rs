//! `floor-stat TREE PASSES`: stats the paths of a refresh PASSES times and prints the nanoseconds of each pass; see `prowess_bench::floor`.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use prowess_bench::floor;

fn main() -> io::Result<()> {
    let usage = || io::Error::other("floor-stat TREE PASSES");
    let mut args = std::env::args().skip(1);
    let root = args.next().map(PathBuf::from).ok_or_else(usage)?;
    let passes: u32 = args.next().and_then(|passes| passes.parse().ok()).ok_or_else(usage)?;
    let paths = floor::paths(&root)?;
    for _ in 0..passes {
        let start = Instant::now();
        std::hint::black_box(floor::stat(&paths)?);
        writeln!(io::stdout(), "{}", start.elapsed().as_nanos())?;
    }
    Ok(())
}
