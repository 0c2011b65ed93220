//! `floor-hash FOLDER`: see `bench/README.md`.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os().nth(1).ok_or_else(|| std::io::Error::other("floor-hash FOLDER"))?;
    std::hint::black_box(prowess_bench::floor::hash(Path::new(&folder))?);
    Ok(())
}
