//! Environments that the lock file of an installed skill pins.
//!
//! A pinned set is used only for exactly the requirements and the interpreter for which it was resolved. It comes from a
//! lock file, which may be part of a project: it names packages, versions and digests, and nothing else.

use prowess::lock::{EnvironmentKind, PinnedEnvironment, ResolvedSet, normalize_package_name};

use super::dependencies::{
    PythonVersion, RequirementSource, Requirements, ScriptSources, requirements_of_skill,
};

/// What the lock file pins for requirements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PinState<'p> {
    /// Nothing.
    Unpinned,
    /// These packages.
    Pinned(&'p ResolvedSet),
    /// Packages for other interpreters or platforms, with these tags.
    OtherInterpreter(Vec<&'p str>),
}

/// Returns what is pinned for requirements. `digest` is that of all requirements; `needed` are those that the interpreter
/// does not already provide.
pub(super) fn find_pin<'p>(
    pins: &'p [PinnedEnvironment],
    kind: EnvironmentKind,
    tag: &str,
    digest: &str,
    needed: &Requirements,
) -> PinState<'p> {
    // The packages of npm are those of package-lock.json, which is a file of the skill. A pinned set could name others.
    if kind == EnvironmentKind::Node {
        return PinState::Unpinned;
    }
    let pins: Vec<&PinnedEnvironment> =
        pins.iter().filter(|pin| pin.requirements == digest && pin.set.kind == kind).collect();
    match pins.iter().find(|pin| pin.set.tag == tag) {
        Some(pin) if covers(&pin.set, needed) => PinState::Pinned(&pin.set),
        // It was resolved on a machine whose interpreter provides more.
        Some(_) => PinState::Unpinned,
        None if pins.is_empty() => PinState::Unpinned,
        None => PinState::OtherInterpreter(pins.iter().map(|pin| pin.set.tag.as_str()).collect()),
    }
}

/// Returns `true` if a set contains all inferred packages. Declared ones may have conditions that do not apply.
fn covers(set: &ResolvedSet, needed: &Requirements) -> bool {
    needed.source != RequirementSource::Imports
        || needed.packages.iter().all(|needed| {
            let name = normalize_package_name(&needed.name);
            set.packages.iter().any(|package| package.name == name)
        })
}

/// Returns `true` if scripts of a skill still have the requirements of a pinned environment. The interpreter need not be
/// installed.
pub fn is_pin_needed(files: &ScriptSources<'_>, pin: &PinnedEnvironment) -> bool {
    let version = python_version(&pin.set.tag).unwrap_or_else(PythonVersion::newest);
    requirements_of_skill(files, &version)
        .is_ok_and(|groups| groups.iter().any(|group| group.requirements.digest() == pin.requirements))
}

/// Returns the version of Python in a tag such as `cpython-311-linux-x86_64`.
fn python_version(tag: &str) -> Option<PythonVersion> {
    // The platform comes after the first two parts.
    let digits = tag.split('-').take(2).find_map(|part| {
        let digits = part.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        (digits.len() > 1 && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(digits)
    })?;
    let (major, minor) = digits.split_at(1);
    PythonVersion::parse(&format!("{major}.{minor}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environments::{ResolvedPackage, requirements_of_script};

    fn files<'f>(list: &'f [(&'f str, &'f str)]) -> ScriptSources<'f> {
        list.iter().map(|(path, text)| (*path, text.as_bytes())).collect()
    }

    fn pin(requirements: &Requirements, tag: &str, names: &[&str]) -> PinnedEnvironment {
        let packages = names.iter().map(|name| ResolvedPackage {
            name: (*name).to_owned(),
            version: "1.0".to_owned(),
            hashes: vec![format!("sha256:{}", "0".repeat(64))],
        });
        let set = ResolvedSet::new(EnvironmentKind::Python, tag.to_owned(), packages.collect()).unwrap();
        PinnedEnvironment { requirements: requirements.digest(), set }
    }

    #[test]
    fn a_pin_is_for_exact_requirements_and_one_interpreter() {
        let sources = [("x.py", "import openpyxl, tomllib")];
        let version = PythonVersion::parse("3.11.2").unwrap();
        let needed = requirements_of_script(&files(&sources), "x.py", &version).unwrap().unwrap();
        let tag = "cpython-311-linux-x86_64";
        let pins = [pin(&needed, tag, &["openpyxl"])];
        let find = |tag: &str, digest: &str| find_pin(&pins, EnvironmentKind::Python, tag, digest, &needed);
        assert_eq!(find(tag, &needed.digest()), PinState::Pinned(&pins[0].set));
        assert_eq!(find("cpython-312-x", &needed.digest()), PinState::OtherInterpreter(vec![tag]));
        assert_eq!(find(tag, "sha256:other"), PinState::Unpinned);
        let incomplete = [pin(&needed, tag, &["et-xmlfile"])];
        let found = find_pin(&incomplete, EnvironmentKind::Python, tag, &needed.digest(), &needed);
        assert_eq!(found, PinState::Unpinned);
        assert!(is_pin_needed(&files(&sources), &pins[0]));
        assert!(is_pin_needed(&files(&[("y.py", "import openpyxl")]), &pins[0]), "the same packages");
        assert!(!is_pin_needed(&files(&[("x.py", "import openpyxl, docx")]), &pins[0]));
        // For Python 3.10, tomllib is not in the standard library.
        assert!(!is_pin_needed(&files(&sources), &pin(&needed, "cpython-310-x", &["openpyxl"])));
    }

    #[test]
    fn tags_contain_versions() {
        for (tag, version) in [
            ("cpython-311-linux-x86_64", "3.11"),
            ("cpython-39-macosx-11.0-arm64", "3.9"),
            ("pypy310-linux-x86_64", "3.10"),
        ] {
            assert_eq!(python_version(tag).unwrap().short(), version);
        }
        assert_eq!(python_version("graalpy-linux-x86"), None);
    }
}
