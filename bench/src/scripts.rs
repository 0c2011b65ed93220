//! `cargo run --release -p prowess-bench --bin bench-scripts`: the cost of the sandbox in each tier, compared with a plain
//! process; with a workspace and an environment; and building an environment, compared with `uv run` if `uv` is on `PATH`.
//! Packages are installed from the configured index.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use prowess::resources::read_skill_files;
use prowess::{HostEnv, Policy, Registry, Skill};
use prowess_sandbox::environments::{EnvironmentBuilder, EnvironmentStore};
use prowess_sandbox::{Consent, Protection, RunOptions, SandboxTier, Workspace, helper_main, run};

const ROUNDS: usize = 41;

const TIERS: [(&str, Protection); 3] = [
    ("tier 1", Protection::Only(SandboxTier::Tier1)),
    ("tier 2", Protection::Only(SandboxTier::Tier2)),
    ("no tier", Protection::Unsafe),
];

/// Adds up a column of a CSV file, and writes a spreadsheet.
const SCRIPT: &str = r#"# /// script
# dependencies = ["openpyxl==3.1.5", "et-xmlfile==2.0.0"]
# ///
import csv, sys
from openpyxl import Workbook
book = Workbook()
for row in csv.reader(open(sys.argv[1])):
    book.active.append(row)
book.save(sys.argv[2])
"#;

fn main() -> Result<(), Box<dyn Error>> {
    helper_main();
    let dir = std::env::temp_dir().join(format!("bench-scripts-{}", std::process::id()));
    fs::create_dir_all(&dir)?;
    // Scripts that root starts run as another user.
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o755))?;
    let measured = measure_plain(&dir).and_then(|()| measure_environment(&dir));
    fs::remove_dir_all(dir)?;
    measured
}

/// Runs a shell script without packages.
fn measure_plain(dir: &Path) -> Result<(), Box<dyn Error>> {
    let registry = Registry::open(Policy::default())?;
    let snapshot = registry.snapshot();
    let skill = snapshot.get("skills-system-validation").ok_or("the bundled skill is missing")?;
    let script = dir.join("echo.sh");
    fs::write(&script, prowess::resources::read_bytes(skill, "scripts/echo.sh")?.bytes)?;
    let bare = || drop(Command::new("/bin/sh").arg(&script).output());
    print_tiers("a shell script", bare, |protection| {
        let mut options = RunOptions::from_registry(&registry);
        (options.consent, options.protection, options.log) = (Consent::Given, protection, None);
        run(skill, "scripts/echo.sh", &[], options).map(drop).map_err(Into::into)
    })
}

/// Runs a Python script with packages on the files of a directory.
fn measure_environment(dir: &Path) -> Result<(), Box<dyn Error>> {
    let skill_dir = dir.join("home/.prowess/skills/sheet");
    fs::create_dir_all(&skill_dir)?;
    fs::write(skill_dir.join("SKILL.md"), "---\nname: sheet\ndescription: Writes spreadsheets.\n---\n")?;
    fs::write(skill_dir.join("sheet.py"), SCRIPT)?;
    let work = dir.join("work");
    fs::create_dir_all(&work)?;
    for number in 0..20 {
        fs::write(work.join(format!("{number}.csv")), "a,1\nb,2\n".repeat(100))?;
    }
    let mut policy = Policy::default();
    policy.run.environments.directory = Some(dir.join("environments"));
    let host = HostEnv { home: Some(dir.join("home")), project: work.clone(), ..HostEnv::from_process()? };
    let registry = Registry::open_in(policy.clone(), host.clone(), &Default::default());
    let snapshot = registry.snapshot();
    let skill = snapshot.get("sheet").ok_or("the skill was not found")?;
    let mut out = io::stdout();
    let (cold, warm) = (time_build(skill, &policy, &host)?, time_build(skill, &policy, &host)?);
    writeln!(out, "\nbuild an environment   {cold:>8.2?}, again {warm:>8.2?}")?;
    if let Some((cold, warm)) = time_uv(&skill_dir.join("sheet.py"), &work, dir)? {
        writeln!(out, "uv run, empty cache    {cold:>8.2?}, again {warm:>8.2?}")?;
    }
    let store = EnvironmentStore::open(&policy.run.environments, &host)?;
    let environment = store.list().into_iter().next().ok_or("no environment was built")?;
    let packages = dir.join("environments").join(&environment.id).join("site-packages");
    let bare = || {
        let script = skill_dir.join("sheet.py");
        let mut command = Command::new("/usr/bin/python3");
        command.arg(script).args(["0.csv", "out.xlsx"]).env("PYTHONPATH", &packages).current_dir(&work);
        drop(command.output());
    };
    print_tiers("a Python script with a workspace of 20 files and an environment", bare, |protection| {
        let mut options = RunOptions::from_registry(&registry);
        (options.consent, options.protection, options.log) = (Consent::Given, protection, None);
        options.workspace = Some(Workspace::Directory(work.clone()));
        let ran = run(skill, "sheet.py", &["0.csv".to_owned(), "out.xlsx".to_owned()], options)?;
        match ran.is_success() {
            true => Ok(()),
            false => Err(ran.stderr_text().into()),
        }
    })
}

fn time_build(skill: &Skill, policy: &Policy, host: &HostEnv) -> Result<Duration, Box<dyn Error>> {
    let start = Instant::now();
    let files = read_skill_files(skill)?;
    let mut builder = EnvironmentBuilder::new(policy, host)?;
    builder.variables = std::env::vars_os().collect();
    for plan in builder.plan(&files)? {
        let set = builder.resolve(&plan)?;
        if !builder.is_built(&set) {
            builder.build(&plan, &set, &skill.name())?;
        }
    }
    Ok(start.elapsed())
}

/// Returns the time of the first and the second `uv run` with an empty cache, if `uv` is installed.
fn time_uv(script: &Path, work: &Path, dir: &Path) -> Result<Option<(Duration, Duration)>, Box<dyn Error>> {
    let once = || -> io::Result<Duration> {
        let start = Instant::now();
        let mut command = Command::new("uv");
        command.args(["run", "--no-project"]).arg(script).args(["0.csv", "uv.xlsx"]);
        command.env("UV_CACHE_DIR", dir.join("uv-cache")).current_dir(work).stderr(Stdio::null());
        match command.status()?.success() {
            true => Ok(start.elapsed()),
            false => Err(io::Error::other("uv failed")),
        }
    };
    match once() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        first => Ok(Some((first?, once()?))),
    }
}

/// Prints the median time without a sandbox and in each tier, and the median difference. The runs alternate, so that
/// other load affects all of them equally.
fn print_tiers(
    title: &str,
    bare: impl Fn(),
    once: impl Fn(Protection) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut out = io::stdout();
    let (mut bare_times, mut tier_times) = (Vec::new(), vec![Vec::new(); TIERS.len()]);
    bare();
    let failures: Vec<Option<String>> =
        TIERS.iter().map(|(_, protection)| once(*protection).err().map(|error| error.to_string())).collect();
    for _ in 0..ROUNDS {
        bare_times.push(time(&bare));
        for ((times, (_, protection)), failure) in tier_times.iter_mut().zip(TIERS).zip(&failures) {
            if failure.is_none() {
                times.push(time(|| drop(once(protection))));
            }
        }
    }
    writeln!(out, "\n{title}\nbare      {:>8.2?}", median(bare_times.clone()))?;
    for ((times, (name, _)), failure) in tier_times.into_iter().zip(TIERS).zip(failures) {
        match failure {
            None => {
                let differences =
                    times.iter().zip(&bare_times).map(|(time, bare)| time.saturating_sub(*bare));
                let more = median(differences.collect());
                writeln!(out, "{name:9} {:>8.2?}  {more:>8.2?} more", median(times))?;
            }
            Some(error) => writeln!(out, "{name:9} {error}")?,
        }
    }
    Ok(())
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
