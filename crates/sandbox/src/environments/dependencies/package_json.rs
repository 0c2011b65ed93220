//! JavaScript dependencies: `package.json` with the lock file of npm.

use serde_json::Value;

use super::error::DependencyError;
use super::requirement::Requirement;
use super::sources::{ScriptSources, parent};

/// The npm packages of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeDependencies {
    /// The text of `package.json`.
    pub manifest: Vec<u8>,
    /// The text of `package-lock.json`.
    pub lock: Vec<u8>,
    /// The locked packages, sorted by name and version.
    pub packages: Vec<LockedNodePackage>,
}

/// A package of a `package-lock.json`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LockedNodePackage {
    /// The directory below `node_modules`.
    pub path: String,
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
    /// The digest of its archive, in the notation of npm.
    pub integrity: String,
}

/// The maximum number of packages.
const PACKAGES_MAX: usize = 5_000;

/// The maximum size of a `package.json` and of its lock file.
const MANIFEST_MAX: usize = 1024 * 1024;
const LOCK_MAX: usize = 8 * 1024 * 1024;

/// Reads the dependencies of a `package.json`; `None` if it has none.
pub(super) fn read_node_dependencies(
    files: &ScriptSources<'_>,
    path: &str,
) -> Result<Option<(Vec<Requirement>, NodeDependencies)>, DependencyError> {
    let invalid =
        |path: &str, reason: &str| DependencyError::Lock { path: path.to_owned(), reason: reason.to_owned() };
    let manifest = files.bytes(path).unwrap_or_default();
    if manifest.len() > MANIFEST_MAX {
        return Err(invalid(path, "the file is too large"));
    }
    let parsed: Value =
        serde_json::from_slice(manifest).map_err(|error| invalid(path, &error.to_string()))?;
    let mut requirements = Vec::new();
    for (name, range) in parsed.get("dependencies").and_then(Value::as_object).into_iter().flatten() {
        if !is_npm_name(name) {
            return Err(invalid(path, &format!("{name:?} is not a package name")));
        }
        let versions = range.as_str().unwrap_or_default().to_owned();
        requirements.push(Requirement { versions, ..Requirement::any_version(name) });
    }
    if requirements.is_empty() {
        return Ok(None);
    }
    let lock_path = super::sources::join(parent(path), "package-lock.json");
    let Some(lock) = files.bytes(&lock_path) else {
        return Err(DependencyError::NoLock { path: path.to_owned() });
    };
    if lock.len() > LOCK_MAX {
        return Err(invalid(&lock_path, "the file is too large"));
    }
    let packages = parse_package_lock(lock).map_err(|reason| invalid(&lock_path, &reason))?;
    Ok(Some((requirements, NodeDependencies { manifest: manifest.to_vec(), lock: lock.to_vec(), packages })))
}

/// Parses a lock file. Every package must come from a registry and have a digest.
pub(super) fn parse_package_lock(bytes: &[u8]) -> Result<Vec<LockedNodePackage>, String> {
    let lock: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let version = lock.get("lockfileVersion").and_then(Value::as_u64).unwrap_or(0);
    if version < 2 {
        return Err(format!("lockfileVersion {version} has no digests of all packages"));
    }
    let entries = lock.get("packages").and_then(Value::as_object).ok_or("it has no packages")?;
    let mut packages = Vec::new();
    for (path, entry) in entries {
        if path.is_empty() {
            continue;
        }
        if packages.len() >= PACKAGES_MAX {
            return Err(format!("it has more than {PACKAGES_MAX} packages"));
        }
        let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let name = path.rsplit_once("node_modules/").map(|(_, name)| name).unwrap_or_default();
        let is_inside =
            path.starts_with("node_modules/") && !path.split('/').any(|part| matches!(part, "" | "." | ".."));
        if !is_inside || !is_npm_name(name) {
            return Err(format!("{path:?} is not a package below node_modules"));
        }
        let is_url = ["https://", "http://"].iter().any(|scheme| text("resolved").starts_with(scheme));
        if entry.get("link").is_some_and(|link| *link != Value::Bool(false)) || !is_url {
            return Err(format!("{name} does not come from a registry"));
        }
        let integrity = text("integrity");
        if !integrity.starts_with("sha512-") && !integrity.starts_with("sha256-") {
            return Err(format!("{name} has no sha512 digest"));
        }
        packages.push(LockedNodePackage {
            path: path.clone(),
            name: name.to_owned(),
            version: text("version"),
            integrity,
        });
    }
    packages.sort();
    Ok(packages)
}

impl NodeDependencies {
    /// Returns a digest of both files. Besides the packages, they decide which of them are installed on which system and
    /// where, so that an environment is shared only by skills for which all of that is the same.
    pub(crate) fn digest(&self) -> String {
        let files = [&self.manifest, &self.lock].map(|bytes| prowess_fs::digest(bytes));
        prowess_fs::digest(files.join(" ").as_bytes())
    }
}

/// Returns `true` for `name` and `@scope/name`.
fn is_npm_name(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '~'))
    };
    name.len() <= 214
        && match name.strip_prefix('@') {
            Some(scoped) => {
                scoped.split_once('/').is_some_and(|(scope, name)| is_part(scope) && is_part(name))
            }
            None => is_part(name),
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)]) -> String {
        let files: ScriptSources<'_> = files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
        let path = files.nearest("scripts/x.js", "package.json").unwrap();
        match read_node_dependencies(&files, &path) {
            Ok(None) => "none".to_owned(),
            Ok(Some((requirements, node))) => {
                format!("{} of {}: {}", requirements.len(), node.packages.len(), node.packages[0].name)
            }
            Err(error) => format!("{error}; {}", error.hint().unwrap_or_default()),
        }
    }

    #[test]
    fn the_lock_file_is_required_and_checked() {
        let manifest = ("package.json", r#"{"dependencies": {"left-pad": "^1.3.0"}}"#);
        let entry = r#"{"version": "1.3.0", "resolved": "https://registry.example/left-pad.tgz", "integrity": "sha512-AA=="}"#;
        let lock = |path: &str, entry: &str| {
            format!(r#"{{"lockfileVersion": 3, "packages": {{"": {{}}, "{path}": {entry}}}}}"#)
        };
        let good = lock("node_modules/left-pad", entry);
        assert_eq!(read(&[manifest, ("package-lock.json", &good)]), "1 of 1: left-pad");
        assert_eq!(read(&[("package.json", "{}")]), "none");
        let git = entry.replace("https://registry.example/left-pad.tgz", "git+ssh://git@example.com/x.git");
        let results = [
            read(&[manifest]),
            read(&[("scripts/package.json", manifest.1)]),
            read(&[manifest, ("package-lock.json", "{")]),
            read(&[manifest, ("package-lock.json", r#"{"lockfileVersion": 1}"#)]),
            read(&[manifest, ("package-lock.json", &lock("../outside", entry))]),
            read(&[manifest, ("package-lock.json", &lock("node_modules/../../x", entry))]),
            read(&[manifest, ("package-lock.json", &lock("node_modules/left-pad", &git))]),
            read(&[
                manifest,
                ("package-lock.json", &lock("node_modules/left-pad", r#"{"resolved": "https://x"}"#)),
            ]),
            read(&[
                manifest,
                (
                    "package-lock.json",
                    &lock("node_modules/left-pad", r#"{"resolved": "http-file:/etc", "link": 1}"#),
                ),
            ]),
            read(&[manifest, ("package-lock.json", &" ".repeat(LOCK_MAX + 1))]),
            read(&[manifest, ("package-lock.json", &"[".repeat(10_000))]),
        ];
        insta::assert_snapshot!(results.join("\n"), @r#"
        package.json has dependencies, but no package-lock.json; run `npm install --package-lock-only` and add package-lock.json to the skill
        scripts/package.json has dependencies, but no package-lock.json; run `npm install --package-lock-only` in scripts and add package-lock.json to the skill
        package-lock.json: EOF while parsing an object at line 1 column 1; run `npm install --package-lock-only` again with npm 7 or later
        package-lock.json: lockfileVersion 1 has no digests of all packages; run `npm install --package-lock-only` again with npm 7 or later
        package-lock.json: "../outside" is not a package below node_modules; run `npm install --package-lock-only` again with npm 7 or later
        package-lock.json: "node_modules/../../x" is not a package below node_modules; run `npm install --package-lock-only` again with npm 7 or later
        package-lock.json: left-pad does not come from a registry; run `npm install --package-lock-only` again with npm 7 or later
        package-lock.json: left-pad has no sha512 digest; run `npm install --package-lock-only` again with npm 7 or later
        package-lock.json: left-pad does not come from a registry; run `npm install --package-lock-only` again with npm 7 or later
        package-lock.json: the file is too large; run `npm install --package-lock-only` again with npm 7 or later
        package-lock.json: recursion limit exceeded at line 1 column 128; run `npm install --package-lock-only` again with npm 7 or later
        "#);
    }
}
