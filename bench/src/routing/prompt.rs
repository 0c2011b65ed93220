//! Measures the steps of creating a prompt for a message with many skills on disk, and whether it contains the correct skill.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use prowess::catalog::{CatalogBudget, CatalogRequest, render_catalog};
use prowess::usage::SkillUsage;
use prowess::{Policy, Preset, Registry, Snapshot};
use prowess_bench::catalog::data::Data;
use prowess_bench::catalog::print_line;
use prowess_bench::catalog::recombined::RecombinedSkills;
use prowess_bench::catalog::times::{Measurement, measure_process};
use prowess_routing::{RouteOptions, Router, SkillTexts};
use wait4::Wait4;

const SKILLS: &str = "100000";

/// The budget of the catalog in characters.
const CHARS: u32 = 32_000;

/// Only every n-th message is used.
const EVERY: usize = 5;

/// The age from which file timestamps are trusted, so that the index is cached.
const TRUSTED_AGE: Duration = Duration::from_secs(4);

pub(crate) fn run(data: &Data, program: Option<&String>) -> Result<(), String> {
    let base = std::env::temp_dir().join(format!("bench-routing-{}", std::process::id()));
    let result = measure(data, program.map(Path::new), &base).map_err(|error| error.to_string());
    let _ = fs::remove_dir_all(&base);
    result
}

fn measure(data: &Data, program: Option<&Path>, base: &Path) -> io::Result<()> {
    let (root, home, index) = (base.join("skills"), base.join("home"), base.join("index"));
    fs::create_dir_all(&home)?;
    write_skills(data, &root)?;
    sleep(TRUSTED_AGE);
    let policy = Policy::from_preset(Preset::Standard).with_roots([root.clone()]);
    let open =
        || Registry::open(policy.clone()).map(|registry| registry.snapshot()).map_err(io::Error::other);
    open()?;
    let (snapshot, scanned) = measure_process(open);
    let snapshot = snapshot?;
    print_line(&format!("{} skills, {} of them available", snapshot.all().len(), snapshot.enabled().count()));
    print_time("discovering all skills, files in the page cache", scanned);
    let query = data.messages.first().map_or("", |message| &message.query);
    let router = || Router::new(Arc::clone(&snapshot)).with_cache_dir(Some(index.clone()));
    print_time(
        "first message: triggers, and building and writing the index",
        measure_process(|| names(&router(), query)).1,
    );
    print_time(
        "first message in another process: triggers, and opening the index",
        measure_process(|| names(&router(), query)).1,
    );
    let router = router();
    names(&router, query);
    let (relevant, measurement) = measure_process(|| names(&router, query));
    print_time("second message in that process", measurement);
    print_time(
        "planning and rendering the catalog",
        measure_process(|| render(&snapshot, &policy, &relevant)).1,
    );
    check_catalogs(data, &snapshot, &policy, &router)?;
    if let Some(program) = program {
        for label in ["`prowess prompt --query`, no index yet", "`prowess prompt --query`, with the index"] {
            print_time(label, run_prompt(program, &root, &home, query)?);
        }
    }
    Ok(())
}

/// Writes each skill into a directory. Duplicate names are replaced by numbers.
fn write_skills(data: &Data, root: &Path) -> io::Result<()> {
    let skills = RecombinedSkills::new(data, SKILLS).map_err(io::Error::other)?;
    for number in skills.numbers() {
        let SkillTexts { name, about, body } = skills.texts(number);
        let mut name = name;
        if number >= data.skills.len() || root.join(&name).exists() {
            name = format!("s{number}");
        }
        let dir = root.join(&name);
        // Skip names of the catalog that are not valid directory names.
        if Path::new(&name).components().count() != 1 || fs::create_dir_all(&dir).is_err() {
            continue;
        }
        let (name, about) = (serde_json::to_string(&name)?, serde_json::to_string(&about)?);
        fs::write(dir.join("SKILL.md"), format!("---\nname: {name}\ndescription: {about}\n---\n{body}\n"))?;
    }
    Ok(())
}

fn names(router: &Router, query: &str) -> Vec<String> {
    let usage = SkillUsage::default();
    let options = RouteOptions { k: 16, ..RouteOptions::new(&usage, 0) };
    router.route(query, &options).matches.into_iter().map(|found| found.name).collect()
}

fn render(snapshot: &Snapshot, policy: &Policy, relevant: &[String]) -> String {
    let request = CatalogRequest {
        budget: CatalogBudget::chars(Some(CHARS)),
        relevant,
        ..CatalogRequest::from_policy(policy)
    };
    render_catalog(snapshot, policy, &request).text
}

/// Counts the catalogs that contain a correct skill. Fails if a catalog exceeds the budget.
fn check_catalogs(data: &Data, snapshot: &Snapshot, policy: &Policy, router: &Router) -> io::Result<()> {
    let (mut count, mut hits, mut longest) = (0, 0, 0);
    for message in data.messages.iter().step_by(EVERY) {
        let text = render(snapshot, policy, &names(router, &message.query));
        let chars = text.chars().count();
        if chars > CHARS as usize {
            return Err(io::Error::other(format!("the catalog has {chars} characters, more than {CHARS}")));
        }
        longest = longest.max(chars);
        count += 1;
        hits += usize::from(message.skills.iter().any(|name| text.contains(&format!("<name>{name}</name>"))));
    }
    print_line(&format!(
        "the correct skill is in {hits} of {count} catalogs; the longest has {longest} of {CHARS} characters"
    ));
    Ok(())
}

fn run_prompt(program: &Path, root: &Path, home: &Path, query: &str) -> io::Result<Measurement> {
    let start = std::time::Instant::now();
    let child = Command::new(program)
        .arg("--root")
        .arg(root)
        .arg("--home")
        .arg(home)
        .args(["prompt", "--budget-chars", &CHARS.to_string(), "--query", query])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let exit = child.wait4()?;
    if !exit.status.success() {
        return Err(io::Error::other(format!("{} exited with {}", program.display(), exit.status)));
    }
    Ok(Measurement { processor: exit.rusage.utime + exit.rusage.stime, wall: start.elapsed() })
}

fn print_time(label: &str, measurement: Measurement) {
    let [wall, processor] = [measurement.wall, measurement.processor].map(|time| time.as_secs_f64() * 1e3);
    print_line(&format!("{label}: {wall:.0} ms wall-clock time, {processor:.0} ms processor time"));
}
