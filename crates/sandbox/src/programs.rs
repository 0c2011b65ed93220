//! Programs that a skill names and that are installed outside of the system directories.
//!
//! A skill names programs under `requires`, `metadata.requires`, `metadata.prowess-requires`, `metadata.openclaw.requires`
//! and `compatibility`. Only
//! programs that the user has in `PATH` become readable, with their libraries: those of one installed version, or those
//! that belong to the system. Never the home directory, a directory above it, or one of the user's with other things. The
//! user is shown these programs before a script runs.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use prowess::format::Value;
use prowess::{HostEnv, Skill};

use super::locate;
use super::sandbox::others_can_access;
use super::system_paths::is_system;

/// The maximum number of names that are searched in `PATH`.
const NAMES_MAX: usize = 100;

/// Programs that a script can start by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct NamedPrograms {
    /// The directories to append to `PATH`.
    pub(super) dirs: Vec<PathBuf>,
    /// The paths that they need besides the system directories.
    pub(super) readable: Vec<PathBuf>,
    /// The names and the files of programs outside of the system directories.
    pub(super) shown: Vec<(String, PathBuf)>,
}

/// Finds the programs that a skill names. `user` is the user that runs scripts, if it is a different one.
pub(super) fn find_named_programs(skill: &Skill, env: &HostEnv, user: Option<u32>) -> NamedPrograms {
    let mut found = NamedPrograms::default();
    for name in program_names(skill) {
        add_program(&name, env, user, &mut found);
    }
    found
}

/// Returns the words that may be names of programs.
fn program_names(skill: &Skill) -> BTreeSet<String> {
    let Some(manifest) = skill.manifest() else { return BTreeSet::new() };
    let mut texts: Vec<String> =
        manifest.requires().chain(manifest.prowess_requires()).map(str::to_owned).collect();
    if let Some(requires) = manifest.openclaw_requires() {
        texts.extend(requires.bins.iter().chain(&requires.any_bins).map(|name| name.to_string()));
    }
    for (_, value) in manifest.unknown_fields().filter(|(key, _)| *key == "requires") {
        collect_texts(value, &mut texts);
    }
    texts.extend(manifest.compatibility().map(str::to_owned));
    texts.iter().flat_map(|text| words(text)).take(NAMES_MAX).map(str::to_owned).collect()
}

/// The keys of `requires` whose values are not programs.
const OTHER_REQUIREMENTS: [&str; 8] =
    ["mcp", "mcpServers", "mcp_servers", "skills", "agents", "env", "config", "credentials"];

fn collect_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::Text(text) => texts.push(text.to_string()),
        Value::List(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Value::Map(entries) => entries
            .iter()
            .filter(|(key, _)| !OTHER_REQUIREMENTS.contains(&&**key))
            .for_each(|(_, value)| collect_texts(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the words of a text that have the form of a file name.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+' | '-');
    text.split(move |c| !is_part(c))
        .map(|word| word.trim_matches(['.', '-', '+']))
        .filter(|word| (2..=64).contains(&word.len()) && !word.starts_with('.'))
}

/// Adds the first program of this name in `PATH`.
fn add_program(name: &str, env: &HostEnv, user: Option<u32>, found: &mut NamedPrograms) {
    let Some(file) = prowess_fs::programs_on_path(name, &env.path).next() else { return };
    let Ok(real) = std::fs::canonicalize(&file) else { return };
    let home = env.home.as_deref().and_then(|home| std::fs::canonicalize(home).ok());
    let (mut readable, program) = if is_system(&real) {
        (Vec::new(), real)
    } else if let Some(package) = optional_package(&real, home.as_deref()) {
        (vec![package], real)
    } else {
        let Ok(located) = locate::locate(name, &env.path, env.home.as_deref(), user) else { return };
        let belongs_to_user = |path: &Path| is_own(path, user);
        (own_paths(&located.program, located.readable, home.as_deref(), &belongs_to_user), located.program)
    };
    if user.is_some() && !others_can_access(&program) {
        return;
    }
    // The name may be a symlink to the program. A shim is not: it leads to a version manager.
    let leads_to_program = |path: &PathBuf| std::fs::canonicalize(path).is_ok_and(|real| real == program);
    let beside = program.with_file_name(name);
    let Some(entry) = [file, beside].into_iter().find(leads_to_program) else { return };
    if !is_system(&entry) && !readable.iter().any(|path| entry.starts_with(path)) {
        readable.push(entry.clone());
    }
    if !readable.is_empty() {
        found.shown.push((name.to_owned(), program));
    }
    let dir = entry.parent().filter(|dir| !is_searched(dir)).map(Path::to_owned);
    found.dirs.extend(dir.filter(|dir| !found.dirs.contains(dir)));
    readable.retain(|path| !found.readable.contains(path));
    found.readable.extend(readable);
}

/// Returns `true` if a path belongs to the user who runs this program. Root owns most of the system, and its scripts run as
/// another user, who can read only what everybody can.
fn is_own(path: &Path, user: Option<u32>) -> bool {
    user.is_none()
        && path.metadata().is_ok_and(|metadata| prowess_fs::owner_uid(&metadata) == prowess_fs::current_uid())
}

/// Returns `true` for the directories in which programs are always found.
fn is_searched(dir: &Path) -> bool {
    ["/usr/local/bin", "/usr/bin", "/bin"].iter().any(|included| dir == Path::new(included))
}

/// Returns `/opt/NAME` for a program below it: the directory of one package, which the administrator installed. A home
/// directory may be there, too, or a project of the user.
fn optional_package(program: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let package = package_dir(program)?;
    let contains_home = home.is_some_and(|home| home.starts_with(&package));
    let is_installed = package.metadata().is_ok_and(|metadata| prowess_fs::owner_uid(&metadata) == 0);
    (is_installed && !contains_home).then_some(package)
}

fn package_dir(program: &Path) -> Option<PathBuf> {
    let inner = program.strip_prefix("/opt").ok()?;
    let mut components = inner.components();
    match (components.next()?, components.next()) {
        (Component::Normal(package), Some(_)) => Some(Path::new("/opt").join(package)),
        _ => None,
    }
}

/// Returns the paths of a program. In the home directory and in other directories of the user, libraries beside it belong to
/// it only in the directory of one version, which a version manager has created; `~/.local/lib` belongs to many programs.
fn own_paths(
    program: &Path,
    readable: Vec<PathBuf>,
    home: Option<&Path>,
    belongs_to_user: &dyn Fn(&Path) -> bool,
) -> Vec<PathBuf> {
    let prefix = program.parent().and_then(Path::parent);
    let is_named = |dir: Option<&Path>, names: &[&str]| {
        dir.and_then(Path::file_name).is_some_and(|dir| names.iter().any(|name| dir == *name))
    };
    let is_version = prefix.is_some_and(|prefix| {
        let tool = prefix.parent();
        is_named(tool, &["versions", "toolchains"])
            || is_named(tool.and_then(Path::parent), &["installs", "tools", "image"])
    });
    let is_of_user = home.is_some_and(|home| program.starts_with(home)) || prefix.is_none_or(belongs_to_user);
    match is_of_user && !is_version {
        true => readable.into_iter().filter(|path| path == program).collect(),
        false => readable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_prose_are_candidates() {
        let found: Vec<&str> =
            words("Requires LibreOffice (soffice), poppler-utils (pdftoppm) & g++ 3.10+; ../x -y").collect();
        assert_eq!(found, ["Requires", "LibreOffice", "soffice", "poppler-utils", "pdftoppm", "3.10"]);
        let mut texts = Vec::new();
        let text = |text: &str| Value::Text(text.into());
        collect_texts(&Value::List(vec![text("a"), Value::Null, Value::List(vec![text("b")])]), &mut texts);
        assert_eq!(texts, ["a", "b"]);
        // As in the skills of a large public collection.
        let requires = vec![("mcp".into(), text("rube")), ("bins".into(), Value::List(vec![text("jq")]))];
        texts.clear();
        collect_texts(&Value::Map(requires), &mut texts);
        assert_eq!(texts, ["jq"]);
    }

    #[test]
    fn programs_are_found_by_name() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().canonicalize().unwrap();
        let write = |inner: &str, bytes: &[u8]| {
            let path = home.join(inner);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, bytes).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        };
        write("bin/mine", b"\x7fELF");
        write("bin/secret.txt", b"secret");
        write(".pyenv/shims/tool", b"#!/bin/sh\n");
        write(".pyenv/versions/1.2/bin/tool-1", b"\x7fELF");
        write(".pyenv/versions/1.2/lib/x", b"");
        symlink("tool-1", home.join(".pyenv/versions/1.2/bin/tool")).unwrap();
        write("bin/a-script", b"#!/bin/sh\n");
        symlink("/bin/sh", home.join("bin/linked")).unwrap();
        let path = std::env::join_paths([home.join("bin"), home.join(".pyenv/shims"), "/usr/bin".into()]);
        let env = HostEnv { project: home.clone(), home: Some(home.clone()), path: path.unwrap() };
        let find = |name: &str| {
            let mut found = NamedPrograms::default();
            add_program(name, &env, None, &mut found);
            let short = |paths: Vec<PathBuf>| {
                let paths =
                    paths.iter().map(|path| path.strip_prefix(&home).unwrap_or(path).display().to_string());
                paths.collect::<Vec<_>>().join(" ")
            };
            format!("{name}: {} | {}", short(found.dirs), short(found.readable))
        };
        let found = ["mine", "tool", "a-script", "linked", "env", "missing"].map(find).join("\n");
        insta::assert_snapshot!(found, @"
        mine: bin | bin/mine
        tool: .pyenv/versions/1.2/bin | .pyenv/versions/1.2/bin/tool-1 .pyenv/versions/1.2/lib .pyenv/versions/1.2/bin/tool
        a-script:  | 
        linked: bin | bin/linked
        env:  | 
        missing:  | 
        ");
    }

    #[test]
    fn packages_in_opt_are_units_and_home_directories_are_not() {
        let package = |path: &str| package_dir(Path::new(path));
        assert_eq!(package("/opt/libreoffice7.6/program/soffice"), Some("/opt/libreoffice7.6".into()));
        assert_eq!(package("/opt/soffice"), None);
        assert_eq!(package("/usr/bin/soffice"), None);
        assert_eq!(optional_package(Path::new("/opt/prowess-absent/bin/x"), None), None);
        let own = |program: &str| {
            let program = Path::new(program);
            let lib = program.parent().unwrap().parent().unwrap().join("lib");
            let belongs_to_user = |path: &Path| path.starts_with("/srv/project");
            let home = Some(Path::new("/home/me"));
            own_paths(program, vec![program.to_owned(), lib], home, &belongs_to_user).len() == 2
        };
        assert!(!own("/srv/project/bin/tool"));
        assert!(!own("/home/me/.local/bin/tool"));
        assert!(!own("/home/me/bin/tool"));
        assert!(own("/home/me/.pyenv/versions/3.12.1/bin/python3.12"));
        assert!(own("/home/me/.local/share/mise/installs/node/20.1.0/bin/node"));
        assert!(own("/srv/tool/bin/tool"));
    }
}
