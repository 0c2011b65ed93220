//! `cargo run --release -p prowess-bench`: measures Prowess beside the floor and the peers; see `bench/README.md`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use prowess_bench::judge;
use prowess_bench::origin::Origin;
use prowess_bench::packages;
use prowess_bench::peers::{Folder, PEERS};
use prowess_bench::report::{self, Report};
use prowess_bench::suite::{self, Programs};
use prowess_bench::tree::Tree;

const USAGE: &str = "\
prowess-bench [packages] [--quick] [--no-peers] [--keep DIR] [--prowess FILE]

  packages         installing, auditing, verifying, in place of listing and checking
  --quick          trees of 100 and 1,000 skills only
  --no-peers       only the floor and Prowess
  --keep DIR       make and keep the trees in DIR (default: target/bench-trees)
  --prowess FILE   measure this program (default: build and measure prowess-cli)

A run of everything writes bench/results.json and the figures in bench/README.md, one of the packages
bench/results-packages.json and theirs; a run of less only prints.
";

const SIZES: [usize; 4] = [100, 1_000, 10_000, 100_000];
const QUICK: [usize; 2] = [100, 1_000];

#[derive(Default)]
struct Options {
    packages: bool,
    quick: bool,
    no_peers: bool,
    keep: Option<PathBuf>,
    prowess: Option<PathBuf>,
}

fn main() -> ExitCode {
    match options().and_then(|options| run(&options)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            say(&message);
            ExitCode::from(2)
        }
    }
}

fn options() -> Result<Options, String> {
    let mut options = Options::default();
    let mut args = std::env::args_os().skip(1);
    while let Some(arg) = args.next() {
        let mut path = || args.next().map(PathBuf::from).ok_or_else(|| USAGE.to_owned());
        match arg.to_str() {
            Some("packages") => options.packages = true,
            Some("--quick") => options.quick = true,
            Some("--no-peers") => options.no_peers = true,
            Some("--keep") => options.keep = Some(path()?),
            Some("--prowess") => options.prowess = Some(path()?),
            _ => return Err(USAGE.to_owned()),
        }
    }
    Ok(options)
}

/// Runs everything; whether every target that was measured is met.
fn run(options: &Options) -> Result<bool, String> {
    if cfg!(debug_assertions) {
        return Err(
            "only a release build is worth measuring: cargo run --release -p prowess-bench".to_owned()
        );
    }
    let bench = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = bench.parent().unwrap_or(bench).join("target");
    let programs = programs(options, &target)?;
    let base = absolute(options.keep.as_deref().unwrap_or(&target.join("bench-trees")))?;
    let figures = match options.packages {
        true => packages::run(&programs, &base, say)?,
        false => suite::run(&programs, &trees(options, &base)?, say)?,
    };
    let peers = match &programs.peers {
        Some(folder) => PEERS.iter().map(|peer| (peer.name, peer.registry, folder.version(peer))).collect(),
        None => Vec::new(),
    };
    let report = Report {
        origin: Origin::of(bench),
        processors: std::thread::available_parallelism().map_or(1, usize::from),
        peers,
        verdicts: if options.packages { judge::packages(&figures) } else { judge::all(&figures) },
        figures,
    };
    let text = report.markdown();
    writeln!(io::stdout(), "{text}").map_err(|error| error.to_string())?;
    if !options.quick && !options.no_peers {
        let (file, marks) = match options.packages {
            true => ("results-packages.json", "packages"),
            false => ("results.json", "figures"),
        };
        fs::write(bench.join(file), report.json()).map_err(|error| format!("{file}: {error}"))?;
        report::rewrite(&bench.join("README.md"), marks, &text)
            .map_err(|error| format!("README.md: {error}"))?;
    }
    Ok(report.verdicts.iter().all(|verdict| verdict.met() != Some(false)))
}

fn trees(options: &Options, base: &Path) -> Result<Vec<Tree>, String> {
    let sizes: &[usize] = if options.quick { &QUICK } else { &SIZES };
    let mut trees = Vec::new();
    for size in sizes {
        say(&format!("a tree of {size} skills"));
        trees.push(Tree::ensure(base, *size).map_err(|error| format!("the tree of {size} skills: {error}"))?);
    }
    Ok(trees)
}

/// Builds what `cargo run` left out, and the program as it is released. Returns where everything is.
fn programs(options: &Options, target: &Path) -> Result<Programs, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let floors = own.parent().unwrap_or(Path::new(".")).to_path_buf();
    build("release", &["prowess-bench", "--bins"]);
    let prowess = match &options.prowess {
        Some(path) => absolute(path)?,
        None => {
            build("dist", &["prowess-cli"]);
            target.join("dist/prowess")
        }
    };
    let folder = std::env::var_os("PROWESS_PEERS").map_or_else(|| target.join("peers"), PathBuf::from);
    let peers = if options.no_peers { None } else { Some(Folder::new(absolute(&folder)?)) };
    Ok(Programs { floors, prowess, peers })
}

/// Builds a package. Where cargo is not at hand or fails, what is missing is named in the report.
fn build(profile: &str, package: &[&str]) {
    if let Some(cargo) = std::env::var_os("CARGO") {
        let mut command = Command::new(cargo);
        command.args(["build", "--profile", profile, "-p"]).args(package);
        // What cargo says about this program would make build scripts that look at it run again.
        let own = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
        for (name, _) in std::env::vars().filter(|(name, _)| own(name)) {
            command.env_remove(name);
        }
        let built = command.status();
        if !built.is_ok_and(|status| status.success()) {
            say(&format!("{} could not be built", package.join(" ")));
        }
    }
}

fn absolute(path: &Path) -> Result<PathBuf, String> {
    std::path::absolute(path).map_err(|error| error.to_string())
}

fn say(message: &str) {
    let _ = writeln!(io::stderr(), "{message}");
}
