//! Searches locations that discovery does not cover: directories of other agents, skipped directories, directories that
//! are too deep, and similar names.

use std::path::{Path, PathBuf};

use prowess::{Skill, SkillStatus, Snapshot};
use prowess_format::{parse, suggest};

use crate::context::CommandContext;

/// The skill directories of known agents, relative to a project or the home directory.
const AGENT_DIRS: &[&str] = &[
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

/// The maximum depth of the search below such a directory.
const DEPTH_MAX: usize = 8;

/// The maximum number of directories to search.
const DIRS_MAX: usize = 20_000;

/// A location with a similar or unscanned skill.
pub(super) struct OtherLocation {
    pub(super) path: PathBuf,
    pub(super) reason: String,
    pub(super) help: String,
}

/// Searches all locations that discovery does not cover. If skills are disabled, returns only that reason.
pub(super) fn find_other_locations(
    name: &str,
    snapshot: &Snapshot,
    context: &CommandContext,
) -> Vec<OtherLocation> {
    if !context.policy().enabled {
        return vec![OtherLocation {
            path: context.host_env.project.clone(),
            reason: "skills are disabled".to_owned(),
            help: "set PROWESS_SKILLS_ENABLED=true to enable them".to_owned(),
        }];
    }
    let mut locations = Vec::new();
    let is_discovered = |path: &Path| snapshot.all().iter().any(|skill| skill.dir() == path);
    let host_env = &context.host_env;
    let bases = host_env.project.ancestors().take(4).chain(host_env.home.as_deref());
    let mut budget = DIRS_MAX;
    let mut seen = Vec::new();
    for base in bases {
        for dir in AGENT_DIRS.iter().map(|dir| base.join(dir)).filter(|dir| dir.is_dir()) {
            let scanned = snapshot.roots().find(|root| root.path() == dir);
            for path in matching_dirs(&dir, name, DEPTH_MAX, &mut budget) {
                if is_discovered(&path) || seen.contains(&path) {
                    continue;
                }
                let (reason, help) = match scanned {
                    Some(_) => unscanned_reason(&dir, &path, context),
                    None => not_a_root_reason(context),
                };
                locations.push(OtherLocation { path: path.clone(), reason, help });
                seen.push(path);
            }
        }
    }
    // Suggest other names only if no skill has this name.
    if snapshot.copies(name).next().is_none() {
        let misnamed: Vec<_> = misnamed(name, snapshot, &mut budget);
        // A name that occurs in a file is not a typo.
        let similar = if misnamed.is_empty() { similar_name(name, snapshot) } else { None };
        locations.extend(misnamed.into_iter().chain(similar));
    }
    locations
}

/// Returns the reason and help for a directory that is not a skill root.
fn not_a_root_reason(context: &CommandContext) -> (String, String) {
    let policy = context.policy();
    if policy.scan.roots.iter().any(|spec| spec.is_explicit) {
        let reason = "only the directories given with --root are searched";
        return (reason.to_owned(), "add this directory with --root".to_owned());
    }
    (
        format!("preset {} does not search this directory", policy.preset),
        "add it to scan.roots in the configuration, or symlink the skill into a searched directory"
            .to_owned(),
    )
}

/// Returns the reason and help for a directory below a skill root that discovery did not find.
fn unscanned_reason(root: &Path, path: &Path, context: &CommandContext) -> (String, String) {
    let inner = path.strip_prefix(root).unwrap_or(path);
    let depth = inner.components().count();
    if let Some(component) = inner.iter().find(|component| {
        let component = component.to_string_lossy();
        component.starts_with('.') || component == "node_modules" || component == "target"
    }) {
        let component = component.to_string_lossy();
        return (
            format!("directories named {component} are not searched"),
            "move the skill out of it".to_owned(),
        );
    }
    if depth > context.policy().scan.depth as usize {
        let limit = context.policy().scan.depth;
        return (
            format!("it is {depth} levels deep; the limit of preset {} is {limit}", context.policy().preset),
            "move it up, or raise scan.depth in the configuration".to_owned(),
        );
    }
    (
        "it is inside another skill, and everything below a SKILL.md belongs to that skill".to_owned(),
        "move it out of that directory".to_owned(),
    )
}

/// Returns the skill directories below `dir` that have this name, or whose frontmatter has it.
fn matching_dirs(dir: &Path, name: &str, depth: usize, budget: &mut usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(dir) else { return found };
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
        if file.is_file() && (path.file_name().is_some_and(|dir| dir == name) || has_name(&file, name)) {
            found.push(path.clone());
        }
        if depth > 0 {
            found.extend(matching_dirs(&path, name, depth - 1, budget));
        }
    }
    found
}

fn has_name(file: &Path, name: &str) -> bool {
    let Some(source) = prowess::read_bounded(file, 256 * 1024) else { return false };
    let dir_name = file.parent().and_then(Path::file_name).and_then(|dir_name| dir_name.to_str());
    let parsed = parse(&source, dir_name, &prowess_format::Rules::standard());
    parsed.document.is_some_and(|document| document.manifest.name().as_str() == name)
}

/// Returns invalid skills, which are listed by directory name, that have the name in their file.
fn misnamed(name: &str, snapshot: &Snapshot, budget: &mut usize) -> Vec<OtherLocation> {
    let invalid = snapshot.all().iter().filter(|skill| *skill.status() == SkillStatus::Invalid).take(*budget);
    let with_name = invalid.filter(|skill| has_name(&skill.skill_md_path(), name));
    let to_location = |skill: &Skill| OtherLocation {
        path: skill.skill_md_path(),
        reason: format!("this file has the name {name}, but it is invalid"),
        help: format!("prowess why {}", skill.id()),
    };
    with_name.map(to_location).collect()
}

/// Returns the skill with the most similar name.
fn similar_name(name: &str, snapshot: &Snapshot) -> Option<OtherLocation> {
    let names: Vec<_> = snapshot.all().iter().map(|skill| skill.name()).collect();
    let similar =
        suggest::nearest(name, names.iter().map(AsRef::as_ref)).filter(|similar| *similar != name)?;
    let skill = snapshot.all().iter().find(|skill| skill.name() == similar)?;
    let (reason, help) = match skill.status() {
        SkillStatus::Enabled => {
            (format!("a skill named {similar} is available"), format!("did you mean {similar}?"))
        }
        status => {
            (format!("a skill named {similar} is {}", status.as_str()), format!("prowess why {similar}"))
        }
    };
    Some(OtherLocation { path: skill.skill_md_path(), reason, help })
}
