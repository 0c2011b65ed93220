//! `floor-read TREE [open]`: walks the tree and reads the first 4 KiB of every `SKILL.md`, see `prowess_bench::floor`.

use std::io::{self, Write};
use std::path::PathBuf;

use prowess_bench::floor::{self, Detection};

fn main() -> io::Result<()> {
    let mut args = std::env::args_os().skip(1);
    let root = args.next().map(PathBuf::from).ok_or_else(|| io::Error::other("floor-read TREE [open]"))?;
    let detection = if args.next().is_some() { Detection::Open } else { Detection::List };
    writeln!(io::stdout(), "{} skills", floor::read(&root, detection)?)
}
