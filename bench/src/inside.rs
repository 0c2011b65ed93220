//! `bench-inside TREES`: measures operations inside one process: planning and rendering catalogs, loading skills, reading files,
//! matching triggers. Most are compared with the minimum work. Prints a Markdown table.

use std::fs;
use std::hint::black_box;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use prowess::activation::activate;
use prowess::catalog::{CatalogRequest, render_catalog};
use prowess::usage::SkillUsage;
use prowess::{Policy, Preset, Registry, Snapshot, resources};
use prowess_routing::{RouteOptions, Router};

/// How long each operation is repeated.
const DURATION: Duration = Duration::from_millis(1500);

fn open(root: PathBuf) -> io::Result<(Policy, Arc<Snapshot>)> {
    let policy = Policy::from_preset(Preset::Standard).with_roots([root]);
    let registry = Registry::open(policy.clone()).map_err(io::Error::other)?;
    Ok((policy, registry.snapshot()))
}

/// Returns the minimum time of an operation.
fn min_time<T>(mut work: impl FnMut() -> T) -> Duration {
    let begin = Instant::now();
    let mut best = Duration::MAX;
    while begin.elapsed() < DURATION {
        let start = Instant::now();
        black_box(work());
        best = best.min(start.elapsed());
    }
    best
}

/// Returns the minimum times of two operations, which alternate so that other load affects both.
fn min_times<A, B>(mut ours: impl FnMut() -> A, mut floor: impl FnMut() -> B) -> (Duration, Duration) {
    let begin = Instant::now();
    let (mut best, mut best_floor) = (Duration::MAX, Duration::MAX);
    while begin.elapsed() < DURATION * 2 {
        let start = Instant::now();
        black_box(ours());
        best = best.min(start.elapsed());
        let start = Instant::now();
        black_box(floor());
        best_floor = best_floor.min(start.elapsed());
    }
    (best, best_floor)
}

fn main() -> io::Result<()> {
    let trees =
        std::env::args().nth(1).map(PathBuf::from).ok_or_else(|| io::Error::other("bench-inside TREES"))?;
    let mut out = io::stdout().lock();
    writeln!(out, "| what | figure |\n|---|---|")?;
    catalogs(&trees, &mut out)?;
    reads(&trees, &mut out)?;
    triggers(&mut out)
}

fn catalogs(trees: &Path, out: &mut impl Write) -> io::Result<()> {
    for size in [100usize, 1_000, 10_000, 100_000] {
        let root = trees.join(size.to_string()).join("skills");
        let Ok((policy, snapshot)) = open(root) else { continue };
        let enabled = snapshot.enabled().count();
        if enabled != size {
            return Err(io::Error::other(format!("{enabled} skills instead of {size}")));
        }
        let request = CatalogRequest {
            budget: prowess::catalog::CatalogBudget::default(),
            ..CatalogRequest::from_policy(&policy)
        };
        let unbounded = min_time(|| render_catalog(&snapshot, &policy, &request));
        let bounded =
            CatalogRequest { budget: prowess::catalog::CatalogBudget::chars(Some(32_000)), ..request };
        let cut = min_time(|| render_catalog(&snapshot, &policy, &bounded));
        let time_per_skill = unbounded.as_nanos() / size as u128;
        writeln!(
            out,
            "| plan and render {size} skills, no bound | {unbounded:.2?}, {time_per_skill} ns per skill |"
        )?;
        writeln!(out, "| plan and render {size} skills in 32,000 characters | {cut:.2?} |")?;
    }
    Ok(())
}

/// Adds all files below a directory to a list.
fn list_files(dir: &Path, into: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => list_files(&entry.path(), into)?,
            false => into.push(entry.path()),
        }
    }
    Ok(())
}

fn reads(trees: &Path, out: &mut impl Write) -> io::Result<()> {
    let (policy, snapshot) = open(trees.join("1000").join("skills"))?;
    let skills: Vec<_> = snapshot.enabled().take(200).collect();
    let files: Vec<PathBuf> = skills.iter().map(|skill| skill.skill_md_path()).collect();
    let read_all = || {
        files.iter().filter_map(|file| fs::read_to_string(file).ok()).map(|text| text.len()).sum::<usize>()
    };
    let load = |policy: &Policy| {
        skills
            .iter()
            .filter_map(|skill| activate(skill, None, policy).ok())
            .map(|activated| activated.content().len())
            .sum::<usize>()
    };
    let mut row = |description: &str, (ours, floor): (Duration, Duration)| {
        let each = |time: Duration| time / u32::try_from(skills.len()).unwrap_or(u32::MAX);
        let times = ours.as_secs_f64() / floor.as_secs_f64();
        writeln!(out, "| {description} | {times:.2} × ({:.2?} to {:.2?}) |", each(ours), each(floor))
    };
    let plain = Policy { activation: Policy::from_preset(Preset::SkillTool).activation, ..policy.clone() };
    row("activate without a list of files, to reading the same file", min_times(|| load(&plain), read_all))?;
    row("activate with a list of files, to reading the same file", min_times(|| load(&policy), read_all))?;
    let read_and_list = || {
        let mut found = Vec::new();
        skills.iter().zip(&files).for_each(|(skill, file)| {
            black_box(fs::read_to_string(file)).ok();
            list_files(&skill.dir(), &mut found).ok();
        });
        found.len()
    };
    row(
        "activate with a list of files, to reading the same file and listing the directory",
        min_times(|| load(&policy), read_and_list),
    )?;
    let resources: Vec<(usize, String)> = skills
        .iter()
        .enumerate()
        .filter_map(|(index, skill)| {
            let files = resources::list_files(skill, None).ok()?.files;
            Some((index, files.into_iter().find(|file| file.path != "SKILL.md")?.path))
        })
        .collect();
    let paths: Vec<PathBuf> = resources.iter().map(|(index, path)| skills[*index].dir().join(path)).collect();
    let read_all = || {
        paths.iter().filter_map(|file| fs::read_to_string(file).ok()).map(|text| text.len()).sum::<usize>()
    };
    let load = || {
        let read =
            |(index, path): &(usize, String)| resources::read_text(skills[*index], path, &policy.limits).ok();
        resources.iter().filter_map(read).map(|read| read.content.len()).sum::<usize>()
    };
    row("read a file of a skill, to reading the same file", min_times(load, read_all))
}

/// Matches one message against 10,000 skills on disk with five triggers each.
fn triggers(out: &mut impl Write) -> io::Result<()> {
    let root = std::env::temp_dir().join(format!("prowess-bench-{}", std::process::id()));
    for n in 0..10_000 {
        let dir = root.join(format!("s{n}"));
        fs::create_dir_all(&dir)?;
        let text = format!(
            "---\nname: s{n}\ndescription: Does {n}.\ntriggers:\n  keywords: [\"word{n}\", \"two words {n}\", \"topic-{}\"]\n  \
             verbs: [\"act{n}\"]\n  patterns: [\"make\\\\s+thing{n}\\\\b\"]\n---\nBody.\n",
            n % 500
        );
        fs::write(dir.join("SKILL.md"), text)?;
    }
    let (_, snapshot) = open(root.clone())?;
    let start = Instant::now();
    let router = Router::new(snapshot);
    let usage = SkillUsage::default();
    let options = RouteOptions { k: 0, ..RouteOptions::new(&usage, 0) };
    let message = "please make thing77 and act5000 on topic-12, then tell me about word1234 ";
    black_box(router.route(message, &options));
    let built = start.elapsed();
    let one = min_time(|| router.route(message, &options));
    let ten = min_time(|| router.route(&message.repeat(10), &options));
    fs::remove_dir_all(root)?;
    writeln!(
        out,
        "| match one message against 10,000 skills with 5 triggers | {one:.2?} (index and first message {built:.2?}) |"
    )?;
    writeln!(out, "| the same message ten times as long | {:.2} × |", ten.as_secs_f64() / one.as_secs_f64())
}
