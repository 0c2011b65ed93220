//! Where a skill may lie that is not offered: in another agent's folder, under a pruned one, too deep, misspelt.

use std::path::{Path, PathBuf};

use prowess::{Skill, Snapshot, Status};
use prowess_format::{parse, suggest};

use crate::context::Context;

/// Folders in which agents keep skills, below a project and below the home. Those of the preset are scanned anyway.
const AGENT_FOLDERS: &[&str] = &[
    ".agents/skills",
    ".prowess/skills",
    ".claude/skills",
    ".codex/skills",
    ".agent/skills",
    ".skills",
    "skills",
    ".cursor/skills",
    ".gemini/skills",
    ".github/skills",
    ".opencode/skills",
    ".config/opencode/skills",
    ".config/agents/skills",
    ".goose/skills",
    ".config/goose/skills",
    ".copilot/skills",
    ".windsurf/skills",
    ".codeium/windsurf/skills",
    ".roo/skills",
    ".kilo/skills",
    ".kiro/skills",
    ".continue/skills",
    ".augment/skills",
    ".factory/skills",
    ".junie/skills",
    ".qwen/skills",
    ".openhands/skills",
    ".trae/skills",
    ".zencoder/skills",
    ".agent/plugins",
];

/// How far below such a folder is looked.
const DEPTH: usize = 8;

/// The most folders that are looked at.
const FOLDERS_MAX: usize = 20_000;

/// A place where something like the skill was seen.
pub(super) struct Sighting {
    pub(super) path: PathBuf,
    pub(super) why: String,
    pub(super) help: String,
}

/// Looks everywhere the scan did not. Where skills are off altogether, that is the whole answer.
pub(super) fn look(name: &str, snapshot: &Snapshot, context: &Context) -> Vec<Sighting> {
    if !context.policy().enabled {
        return vec![Sighting {
            path: context.surroundings.project.clone(),
            why: "skills are switched off altogether".to_owned(),
            help: "PROWESS_SKILLS_ENABLED=true switches them on".to_owned(),
        }];
    }
    let mut sightings = Vec::new();
    let known = |path: &Path| snapshot.all().iter().any(|skill| skill.folder() == path);
    let world = &context.surroundings;
    let bases = world.project.ancestors().take(4).chain(world.home.as_deref());
    let mut budget = FOLDERS_MAX;
    let mut seen = Vec::new();
    for base in bases {
        for folder in AGENT_FOLDERS.iter().map(|folder| base.join(folder)).filter(|folder| folder.is_dir()) {
            let scanned = snapshot.roots().find(|root| root.path() == folder);
            for path in matching(&folder, name, DEPTH, &mut budget) {
                if known(&path) || seen.contains(&path) {
                    continue;
                }
                let (why, help) = match scanned {
                    Some(_) => unscanned_reason(&folder, &path, context),
                    None => foreign_reason(context),
                };
                sightings.push(Sighting { path: path.clone(), why, help });
                seen.push(path);
            }
        }
    }
    // Where there is a skill of this very name, nobody asked for another.
    if snapshot.copies(name).next().is_none() {
        let misnamed: Vec<_> = misnamed(name, snapshot, &mut budget);
        // Whoever knows the name from the file has not mistyped it.
        let near = if misnamed.is_empty() { near_names(name, snapshot) } else { None };
        sightings.extend(misnamed.into_iter().chain(near));
    }
    sightings
}

/// Why a whole directory was not scanned.
fn foreign_reason(context: &Context) -> (String, String) {
    let policy = context.policy();
    if policy.scan.roots.iter().any(|spec| spec.given) {
        let why = "only the directories given with --root are scanned";
        return (why.to_owned(), "name this directory with --root, too".to_owned());
    }
    (
        format!("this directory is not scanned in preset {}", policy.preset),
        "add it to scan.roots in the configuration, or link the folder into one that is".to_owned(),
    )
}

/// Why a folder below a scanned directory was not found.
fn unscanned_reason(root: &Path, path: &Path, context: &Context) -> (String, String) {
    let inner = path.strip_prefix(root).unwrap_or(path);
    let depth = inner.components().count();
    if let Some(part) = inner.iter().find(|part| {
        let part = part.to_string_lossy();
        part.starts_with('.') || part == "node_modules" || part == "target"
    }) {
        let part = part.to_string_lossy();
        return (format!("folders named {part} are not looked into"), "move the skill out of it".to_owned());
    }
    if depth > context.policy().scan.depth as usize {
        let limit = context.policy().scan.depth;
        return (
            format!(
                "it lies {depth} folders deep; the limit is {limit} in preset {}",
                context.policy().preset
            ),
            "move it up, or raise scan.depth in the configuration".to_owned(),
        );
    }
    (
        "it lies below another skill, and everything below a SKILL.md belongs to that skill".to_owned(),
        "move it out of that folder".to_owned(),
    )
}

/// Folders below `folder` that hold a `SKILL.md` and have this name, or whose frontmatter does.
fn matching(folder: &Path, name: &str, depth: usize, budget: &mut usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return found };
    let mut paths: Vec<_> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    for path in paths {
        if *budget == 0 {
            break;
        }
        *budget -= 1;
        let file = path.join("SKILL.md");
        if file.is_file() && (path.file_name().is_some_and(|folder| folder == name) || names(&file, name)) {
            found.push(path.clone());
        }
        if depth > 0 {
            found.extend(matching(&path, name, depth - 1, budget));
        }
    }
    found
}

fn names(file: &Path, name: &str) -> bool {
    let Some(source) = prowess::read_bounded(file, 256 * 1024) else { return false };
    let parsed = parse(&source, None, &prowess_format::Rules::standard());
    parsed.document.is_some_and(|document| document.manifest.name().as_str() == name)
}

/// Skills that cannot be loaded, and are therefore called by their folder, but have the name in the file.
fn misnamed(name: &str, snapshot: &Snapshot, budget: &mut usize) -> Vec<Sighting> {
    let invalid = snapshot.all().iter().filter(|skill| *skill.status() == Status::Invalid).take(*budget);
    let named = invalid.filter(|skill| names(&skill.location(), name));
    let sighting = |skill: &Skill| Sighting {
        path: skill.location(),
        why: format!("this file has the name {name}, but is invalid"),
        help: format!("prowess why {}", skill.id()),
    };
    named.map(sighting).collect()
}

/// A name that differs by a letter or in case.
fn near_names(name: &str, snapshot: &Snapshot) -> Option<Sighting> {
    let names: Vec<_> = snapshot.all().iter().map(|skill| skill.name()).collect();
    let near = suggest::nearest(name, names.iter().map(AsRef::as_ref)).filter(|near| *near != name)?;
    let skill = snapshot.all().iter().find(|skill| skill.name() == near)?;
    let (why, help) = match skill.status() {
        Status::Enabled => (format!("a skill named {near} is offered"), format!("did you mean {near}?")),
        status => (format!("a skill named {near} is {}", status.as_str()), format!("prowess why {near}")),
    };
    Some(Sighting { path: skill.location(), why, help })
}
