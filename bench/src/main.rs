//! `cargo run --release -p prowess-bench`: measures Prowess, a floor program and other tools; see `bench/README.md`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use prowess_bench::origin::Origin;
use prowess_bench::packages;
use prowess_bench::peers::{PEERS, PeersDir};
use prowess_bench::report::{self, Report};
use prowess_bench::suite::{self, Programs};
use prowess_bench::targets;
use prowess_bench::tree::Tree;

const USAGE: &str = "\
prowess-bench [packages] [--quick] [--no-peers] [--keep DIR] [--prowess FILE]

  packages         measure installing, auditing and verifying instead of listing and checking
  --quick          use only trees of 100 and 1,000 skills
  --no-peers       measure only the floor and Prowess
  --keep DIR       create and keep the trees in DIR (default: target/bench-trees)
  --prowess FILE   measure this program (default: build and measure prowess-cli)

A complete run updates the figures in bench/README.md, and bench/results.json or bench/results-packages.json.
With --quick or --no-peers, the results are only printed.
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
            log(&message);
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

/// Runs the benchmarks. Returns `true` if every measured target is met.
fn run(options: &Options) -> Result<bool, String> {
    if cfg!(debug_assertions) {
        return Err("this is not a release build; run cargo run --release -p prowess-bench".to_owned());
    }
    let bench = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = bench.parent().unwrap_or(bench).join("target");
    let programs = programs(options, &target)?;
    let base = absolute(options.keep.as_deref().unwrap_or(&target.join("bench-trees")))?;
    let figures = match options.packages {
        true => packages::run(&programs, &base, log)?,
        false => suite::run(&programs, &trees(options, &base)?, log)?,
    };
    let peers = match &programs.peers {
        Some(dir) => PEERS.iter().map(|peer| (peer.name, peer.registry, dir.version(peer))).collect(),
        None => Vec::new(),
    };
    let report = Report {
        origin: Origin::of(bench),
        processors: std::thread::available_parallelism().map_or(1, usize::from),
        peers,
        results: if options.packages {
            targets::compare_packages(&figures)
        } else {
            targets::compare(&figures)
        },
        figures,
    };
    let text = report.markdown();
    writeln!(io::stdout(), "{text}").map_err(|error| error.to_string())?;
    if !options.quick && !options.no_peers {
        let (file, markers) = match options.packages {
            true => ("results-packages.json", "packages"),
            false => ("results.json", "figures"),
        };
        fs::write(bench.join(file), report.json()).map_err(|error| format!("{file}: {error}"))?;
        report::rewrite(&bench.join("README.md"), markers, &text)
            .map_err(|error| format!("README.md: {error}"))?;
    }
    Ok(report.results.iter().all(|result| result.met() != Some(false)))
}

fn trees(options: &Options, base: &Path) -> Result<Vec<Tree>, String> {
    let sizes: &[usize] = if options.quick { &QUICK } else { &SIZES };
    let mut trees = Vec::new();
    for size in sizes {
        log(&format!("creating the tree of {size} skills"));
        trees.push(Tree::ensure(base, *size).map_err(|error| format!("the tree of {size} skills: {error}"))?);
    }
    Ok(trees)
}

/// Builds the other programs of this package, and `prowess` with the release profile. Returns their paths.
fn programs(options: &Options, target: &Path) -> Result<Programs, String> {
    let own_path = std::env::current_exe().map_err(|error| error.to_string())?;
    let floors = own_path.parent().unwrap_or(Path::new(".")).to_path_buf();
    build("release", &["prowess-bench", "--bins"]);
    let prowess = match &options.prowess {
        Some(path) => absolute(path)?,
        None => {
            build("dist", &["prowess-cli"]);
            target.join("dist/prowess")
        }
    };
    let peers_dir = std::env::var_os("PROWESS_PEERS").map_or_else(|| target.join("peers"), PathBuf::from);
    let peers = if options.no_peers { None } else { Some(PeersDir::new(absolute(&peers_dir)?)) };
    Ok(Programs { floors, prowess, peers })
}

/// Builds a package. If cargo is not available or fails, the report lists the missing programs.
fn build(profile: &str, package: &[&str]) {
    if let Some(cargo) = std::env::var_os("CARGO") {
        let mut command = Command::new(cargo);
        command.args(["build", "--profile", profile, "-p"]).args(package);
        // The variables that cargo sets for this program would cause build scripts to run again.
        let is_set_by_cargo =
            |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
        for (name, _) in std::env::vars().filter(|(name, _)| is_set_by_cargo(name)) {
            command.env_remove(name);
        }
        let status = command.status();
        if !status.is_ok_and(|status| status.success()) {
            log(&format!("warning: cannot build {}", package.join(" ")));
        }
    }
}

fn absolute(path: &Path) -> Result<PathBuf, String> {
    std::path::absolute(path).map_err(|error| error.to_string())
}

fn log(message: &str) {
    let _ = writeln!(io::stderr(), "{message}");
}
