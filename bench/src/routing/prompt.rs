//! The prompt for a message over many skills on disk: what it costs, step by step, and whether the right skill is in it.

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
use prowess_bench::catalog::recombined::Recombined;
use prowess_bench::catalog::say;
use prowess_bench::catalog::times::{Took, timed};
use prowess_routing::{RouteOptions, Router, SkillTexts};
use wait4::Wait4;

/// How many there are.
const SKILLS: &str = "100000";

/// What the catalog may cost, in characters.
const CHARS: u32 = 32_000;

/// Every so many messages are asked.
const EVERY: usize = 5;

/// From then on the times of files are believed, and their index is kept.
const SETTLED: Duration = Duration::from_secs(4);

pub(crate) fn run(data: &Data, program: Option<&String>) -> Result<(), String> {
    let place = std::env::temp_dir().join(format!("bench-routing-{}", std::process::id()));
    let result = measure(data, program.map(Path::new), &place).map_err(|error| error.to_string());
    let _ = fs::remove_dir_all(&place);
    result
}

fn measure(data: &Data, program: Option<&Path>, place: &Path) -> io::Result<()> {
    let (root, home, index) = (place.join("skills"), place.join("home"), place.join("index"));
    fs::create_dir_all(&home)?;
    write(data, &root)?;
    sleep(SETTLED);
    let policy = Policy::from_preset(Preset::Standard).with_roots([root.clone()]);
    let open =
        || Registry::open(policy.clone()).map(|registry| registry.snapshot()).map_err(io::Error::other);
    open()?;
    let (snapshot, scanned) = timed(open);
    let snapshot = snapshot?;
    say(&format!("{} skills, {} of them on offer", snapshot.all().len(), snapshot.enabled().count()));
    told("finding all skills, files in the page cache", scanned);
    let query = data.messages.first().map_or("", |message| &message.query);
    let router = || Router::new(Arc::clone(&snapshot)).with_cache_dir(Some(index.clone()));
    told("the first message: triggers, and the index built and written", timed(|| names(&router(), query)).1);
    told("the same in another process: triggers, and the index opened", timed(|| names(&router(), query)).1);
    let router = router();
    names(&router, query);
    let (relevant, took) = timed(|| names(&router, query));
    told("the same again in that process", took);
    told("planning and rendering the catalog", timed(|| rendered(&snapshot, &policy, &relevant)).1);
    judge(data, &snapshot, &policy, &router)?;
    if let Some(program) = program {
        for what in ["`prowess prompt --query`, no index yet", "the same with the index kept"] {
            told(what, prompted(program, &root, &home, query)?);
        }
    }
    Ok(())
}

/// A folder for each skill. The first of a name has it; the others are numbered, for a name is taken once.
fn write(data: &Data, root: &Path) -> io::Result<()> {
    let skills = Recombined::new(data, SKILLS).map_err(io::Error::other)?;
    for number in skills.numbers() {
        let SkillTexts { name, about, body } = skills.texts(number);
        let mut name = name;
        if number >= data.skills.len() || root.join(&name).exists() {
            name = format!("s{number}");
        }
        let folder = root.join(&name);
        // A catalog's name can be anything; what is no folder's name is left out.
        if Path::new(&name).components().count() != 1 || fs::create_dir_all(&folder).is_err() {
            continue;
        }
        let (name, about) = (serde_json::to_string(&name)?, serde_json::to_string(&about)?);
        fs::write(
            folder.join("SKILL.md"),
            format!("---\nname: {name}\ndescription: {about}\n---\n{body}\n"),
        )?;
    }
    Ok(())
}

fn names(router: &Router, query: &str) -> Vec<String> {
    let usage = SkillUsage::default();
    let options = RouteOptions { k: 16, ..RouteOptions::new(&usage, 0) };
    router.route(query, &options).matches.into_iter().map(|found| found.name).collect()
}

fn rendered(snapshot: &Snapshot, policy: &Policy, relevant: &[String]) -> String {
    let request = CatalogRequest {
        budget: CatalogBudget::chars(Some(CHARS)),
        relevant,
        ..CatalogRequest::from_policy(policy)
    };
    render_catalog(snapshot, policy, &request).text
}

/// How many catalogs hold a skill that is right; one that is larger than it may be is an error.
fn judge(data: &Data, snapshot: &Snapshot, policy: &Policy, router: &Router) -> io::Result<()> {
    let (mut asked, mut held, mut longest) = (0, 0, 0);
    for message in data.messages.iter().step_by(EVERY) {
        let text = rendered(snapshot, policy, &names(router, &message.query));
        let chars = text.chars().count();
        if chars > CHARS as usize {
            return Err(io::Error::other(format!(
                "a catalog of {chars} characters where {CHARS} are allowed"
            )));
        }
        longest = longest.max(chars);
        asked += 1;
        held += usize::from(message.skills.iter().any(|name| text.contains(&format!("<name>{name}</name>"))));
    }
    say(&format!(
        "the right skill is in {held} of {asked} catalogs; the longest has {longest} of {CHARS} characters"
    ));
    Ok(())
}

fn prompted(program: &Path, root: &Path, home: &Path, query: &str) -> io::Result<Took> {
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
    let ended = child.wait4()?;
    if !ended.status.success() {
        return Err(io::Error::other(format!("{} ended with {}", program.display(), ended.status)));
    }
    Ok(Took { worked: ended.rusage.utime + ended.rusage.stime, waited: start.elapsed() })
}

fn told(what: &str, took: Took) {
    let [waited, worked] = [took.waited, took.worked].map(|time| time.as_secs_f64() * 1e3);
    say(&format!("{what}: {waited:.0} ms by the clock, {worked:.0} ms on the processors"));
}
