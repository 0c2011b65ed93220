//! `floor-hash DIR`: see `bench/README.md`.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let dir = std::env::args_os().nth(1).ok_or_else(|| std::io::Error::other("floor-hash DIR"))?;
    std::hint::black_box(prowess_bench::floor::hash(Path::new(&dir))?);
    Ok(())
}
