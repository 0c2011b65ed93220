//! Measures toolsets: loading cold and warm, calls, memory, and a hundred skills with unused toolsets; and a Python program in each
//! available sandbox tier.
//!
//! `bench-toolsets [--rounds N] [NODE_MODULES_ZOD]`; with the directory of the npm package zod, a skill that ships it is also
//! measured.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use prowess::policy::ScriptPolicy;
use prowess::{Policy, Preset, Registry};
use prowess_sandbox::{Protection, RunOptions, SandboxTier, helper_main};
use prowess_toolset::{Cancel, Conversation, Programs, ToolCall, ToolsetLimits, Toolsets};

/// The default number of rounds.
const ROUNDS: usize = 200;

type Any = Box<dyn Error>;

fn main() -> Result<(), Any> {
    helper_main();
    let dir = std::env::temp_dir().join(format!("bench-toolsets-{}", std::process::id()));
    let result = measure(&dir);
    fs::remove_dir_all(&dir)?;
    result
}

fn measure(dir: &Path) -> Result<(), Any> {
    let mut args: Vec<_> = std::env::args_os().skip(1).collect();
    let mut rounds = ROUNDS;
    if let Some(index) = args.iter().position(|arg| arg == "--rounds") {
        let option: Vec<_> = args.drain(index..(index + 2).min(args.len())).collect();
        rounds =
            option.last().and_then(|text| text.to_str()?.parse().ok()).ok_or("--rounds requires a number")?;
    }
    for n in 0..100 {
        write_skill(&dir.join(format!("s{n}")))?;
    }
    let open = || {
        Registry::open(Policy {
            enabled: true,
            ..Policy::from_preset(Preset::Triggers).with_roots([dir.to_owned()])
        })
    };
    let (registry, open_time) = timed(open);
    let (snapshot, before) = (registry?.snapshot(), memory());
    let toolsets = Toolsets::default();
    println!("100 skills with toolsets, found:   {open_time:>10.1?}, {} engines", toolsets.running());
    measure_toolset("s0", "built-in zod", &snapshot, rounds)?;
    let toolsets = Toolsets::with_limits(ToolsetLimits { engines: 100, ..ToolsetLimits::default() });
    let ((), load_time) = timed(|| snapshot.enabled().for_each(|skill| drop(toolsets.tools(skill))));
    let memory_each = memory().saturating_sub(before) / 100;
    println!(
        "100 engines: {load_time:.1?} in all, {memory_each} KiB of the process each, {} running",
        toolsets.running()
    );
    measure_programs(dir, rounds)?;
    if let Some(zod) = args.first() {
        let shipped = dir.join("shipped");
        write_skill(&shipped)?;
        copy_dir(Path::new(zod), &shipped.join("node_modules/zod"))?;
        measure_toolset("shipped", "its own zod ", &open()?.snapshot(), rounds.min(20))?;
    }
    Ok(())
}

/// Measures loading cold and warm, and a call. Prints the medians.
fn measure_toolset(
    name: &str,
    description: &str,
    snapshot: &prowess::Snapshot,
    rounds: usize,
) -> Result<(), Any> {
    let skill = snapshot.get(name).ok_or("the skill is missing")?;
    let mut cold = Vec::new();
    for _ in 0..rounds {
        let (loaded, time) = timed(|| Toolsets::default().tools(skill));
        if let Some(failure) = loaded?.failures.first() {
            return Err(failure.to_string().into());
        }
        cold.push(time);
    }
    let toolsets = Toolsets::default();
    let kib = toolsets.tools(skill)?.memory / 1024;
    let mut warm: Vec<_> = (0..rounds).map(|_| timed(|| toolsets.tools(skill)).1).collect();
    let call = || {
        let call = ToolCall::new("my-tool", serde_json::json!({"input": "hello"}));
        toolsets.call(skill, call, Cancel::default())
    };
    let mut calls = Vec::new();
    for _ in 0..rounds {
        let (answer, time) = timed(call);
        answer?;
        calls.push(time);
    }
    let (cold, warm, call_time) = (median(&mut cold), median(&mut warm), median(&mut calls));
    println!(
        "{description}: cold {cold:>9.1?}, warm {warm:>9.1?}, a call {call_time:>9.1?}, engine {kib} KiB"
    );
    Ok(())
}

/// Measures starting, listing and calling the program of the documentation.
fn measure_programs(dir: &Path, rounds: usize) -> Result<(), Any> {
    let page = include_str!("../../docs/toolsets.md").split_once("\n## Programs\n").ok_or("no programs")?.1;
    let block = |language: &str| {
        let rest = page.split_once(&format!("```{language}\n")).ok_or("the example is missing")?.1;
        rest.split("```").next().ok_or("the example is not closed")
    };
    let program_dir = dir.join("figures");
    fs::create_dir_all(program_dir.join("toolsets"))?;
    fs::write(program_dir.join("SKILL.md"), block("yaml")?)?;
    fs::write(program_dir.join("toolsets/tools.py"), block("python")?)?;
    let mut policy = Policy::from_preset(Preset::Triggers).with_roots([dir.to_owned()]);
    policy.enabled = true;
    policy.run.scripts = ScriptPolicy::Allowed;
    let registry = Registry::open(policy)?;
    let snapshot = registry.snapshot();
    let skill = snapshot.get("figures").ok_or("the skill is missing")?;
    let conversation = Conversation::default();
    // Starting takes much longer than everything else.
    let rounds = rounds.min(50);
    for tier in [SandboxTier::Tier1, SandboxTier::Tier2] {
        let options = || {
            let mut options = RunOptions::from_registry(&registry);
            (options.protection, options.log) = (Protection::Only(tier), None);
            options
        };
        let mut cold = Vec::new();
        for _ in 0..rounds {
            let programs = Programs::default();
            let (loaded, time) = timed(|| programs.tools(skill, &conversation, &options()));
            if let Some(failure) = loaded?.failures.first() {
                return Err(failure.to_string().into());
            }
            cold.push(time);
        }
        let programs = Programs::default();
        programs.tools(skill, &conversation, &options())?;
        let mut warm: Vec<_> =
            (0..rounds).map(|_| timed(|| programs.tools(skill, &conversation, &options())).1).collect();
        let mut calls = Vec::new();
        for _ in 0..rounds {
            let call = ToolCall::new("summarize", serde_json::json!({"numbers": [1, 2, 4]}));
            let (answer, time) =
                timed(|| programs.call(skill, call, Cancel::default(), &conversation, &options()));
            answer?;
            calls.push(time);
        }
        let (cold, warm, call_time) = (median(&mut cold), median(&mut warm), median(&mut calls));
        println!("program, {tier}: start {cold:>9.1?}, listed again {warm:>9.1?}, a call {call_time:>9.1?}");
    }
    Ok(())
}

fn write_skill(dir: &Path) -> Result<(), Any> {
    const FIXTURE: &str = include_str!("../../crates/toolset/tests/fixtures/my-skill/toolsets/index.ts");
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    fs::create_dir_all(dir.join("toolsets"))?;
    let head =
        format!("---\nname: {name}\ndescription: D.\ntoolsets: ['toolsets/index:MyToolset']\n---\nB\n");
    fs::write(dir.join("SKILL.md"), head)?;
    fs::write(dir.join("toolsets/index.ts"), FIXTURE)?;
    Ok(())
}

fn copy_dir(from: &Path, to: &Path) -> Result<(), Any> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => copy_dir(&entry.path(), &to.join(entry.file_name()))?,
            false => drop(fs::copy(entry.path(), to.join(entry.file_name()))?),
        }
    }
    Ok(())
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Returns the memory of this process in KiB.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}
