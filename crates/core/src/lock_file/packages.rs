//! Exact packages: names, versions and digests.

use serde::{Deserialize, Serialize};

prowess_format::named_enum! {
    /// The kind of an environment.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum EnvironmentKind {
        /// Python packages.
        Python = "python",
        /// npm packages.
        Node = "node",
    }
}

/// A package with its exact version and the digests of its files.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ResolvedPackage {
    /// The name; for npm, the path below `node_modules`.
    pub name: String,
    /// The version.
    pub version: String,
    /// The accepted digests, such as `sha256:…`; those of npm are in its own notation.
    pub hashes: Vec<String>,
}

/// The exact packages of an environment, for one interpreter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvedSet {
    /// The kind.
    pub kind: EnvironmentKind,
    /// The interpreter and the platform, such as `cpython-311-linux-x86_64`.
    pub tag: String,
    /// The packages, sorted.
    pub packages: Vec<ResolvedPackage>,
}

/// The length of an id: enough digits of a digest that no two sets share it.
const ID_LENGTH: usize = 32;

/// The maximum number of packages in a set.
const PACKAGES_MAX: usize = 4_096;

/// The maximum number of digests of a package: one for each of its files in the index.
const HASHES_MAX: usize = 1_024;

impl ResolvedSet {
    /// Creates a set. Returns `None` if a package has an invalid name, version or digest, or no digest.
    ///
    /// ```
    /// use prowess::lock::{EnvironmentKind, ResolvedPackage, ResolvedSet};
    ///
    /// let hashes = vec![format!("sha256:{}", "0".repeat(64))];
    /// let package = ResolvedPackage { name: "Six".to_owned(), version: "1.16.0".to_owned(), hashes };
    /// let set = ResolvedSet::new(EnvironmentKind::Python, "cpython-311-linux-x86_64".to_owned(), vec![package]);
    /// assert_eq!(set.unwrap().packages[0].name, "six");
    /// ```
    pub fn new(kind: EnvironmentKind, tag: String, mut packages: Vec<ResolvedPackage>) -> Option<Self> {
        for package in &mut packages {
            if kind == EnvironmentKind::Python {
                package.name = normalize_package_name(&package.name);
            }
            package.hashes.sort();
            package.hashes.dedup();
        }
        packages.sort();
        packages.dedup();
        let set = Self { kind, tag, packages };
        set.is_valid().then_some(set)
    }

    /// Returns `true` if every part has the expected form. Sets that were read from files are checked again.
    pub fn is_valid(&self) -> bool {
        let is_hex = |digits: &str| digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_hash = |hash: &String| match self.kind {
            EnvironmentKind::Python => hash.strip_prefix("sha256:").is_some_and(is_hex),
            EnvironmentKind::Node => ["sha512-", "sha256-"].iter().any(|algorithm| {
                hash.strip_prefix(algorithm).is_some_and(|digest| {
                    (1..=100).contains(&digest.len())
                        && digest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
                })
            }),
        };
        let is_name = |name: &str| match self.kind {
            EnvironmentKind::Python => is_package_name(name),
            EnvironmentKind::Node => is_node_path(name),
        };
        is_interpreter_tag(&self.tag)
            && self.packages.len() <= PACKAGES_MAX
            && self.packages.iter().all(|package| {
                is_name(&package.name)
                    && is_version(&package.version)
                    && (1..=HASHES_MAX).contains(&package.hashes.len())
                    && package.hashes.iter().all(is_hash)
            })
    }

    /// Returns the id: the digest of the packages and the interpreter, so that equal sets share an environment.
    pub fn id(&self) -> String {
        let mut text = format!("prowess environment 1\n{} {}\n", self.kind, self.tag);
        for package in &self.packages {
            text.push_str(&format!("{} {} {}\n", package.name, package.version, package.hashes.join(" ")));
        }
        let digest = prowess_fs::digest(text.as_bytes());
        digest.trim_start_matches("sha256:").chars().take(ID_LENGTH).collect()
    }
}

/// Returns `true` for the id of an environment.
pub fn is_environment_id(name: &str) -> bool {
    name.len() == ID_LENGTH && name.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Returns `true` for the tag of an interpreter.
fn is_interpreter_tag(tag: &str) -> bool {
    (1..200).contains(&tag.len()) && tag.chars().all(|c| c.is_ascii_alphanumeric() || "._-+".contains(c))
}

/// Returns the name of a Python package as indexes compare it: in lower case, with single hyphens.
pub fn normalize_package_name(name: &str) -> String {
    let parts = name.split(['-', '_', '.']).filter(|part| !part.is_empty()).map(str::to_ascii_lowercase);
    parts.collect::<Vec<_>>().join("-")
}

/// Returns `true` for valid names of Python packages.
pub fn is_package_name(name: &str) -> bool {
    let is_end = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    name.len() <= 100
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
        && is_end(name.chars().next())
        && is_end(name.chars().next_back())
}

/// Returns `true` for text that can be a version.
pub fn is_version(version: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+' | '!' | '*');
    (1..=100).contains(&version.len())
        && version.chars().all(is_part)
        && version.starts_with(|c: char| c.is_ascii_alphanumeric())
}

/// Returns `true` for the path of an npm package below `node_modules`, such as `a/node_modules/@scope/b`.
fn is_node_path(path: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "._~-".contains(c))
    };
    let is_name = |name: &str| match name.strip_prefix('@').and_then(|name| name.split_once('/')) {
        Some((scope, name)) => is_part(scope) && is_part(name),
        None => is_part(name),
    };
    path.len() <= 1_000 && path.split("/node_modules/").all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, version: &str) -> ResolvedPackage {
        ResolvedPackage {
            name: name.to_owned(),
            version: version.to_owned(),
            hashes: vec![format!("sha256:{}", "0".repeat(64))],
        }
    }

    #[test]
    fn equal_sets_have_equal_ids() {
        let set = |packages| ResolvedSet::new(EnvironmentKind::Python, "cpython-311-x".to_owned(), packages);
        let one = set(vec![package("A_b", "1.0"), package("c", "2")]).unwrap();
        let other = set(vec![package("c", "2"), package("a-b", "1.0"), package("c", "2")]).unwrap();
        assert_eq!(one.id(), other.id());
        assert!(is_environment_id(&one.id()));
        assert_ne!(one.id(), set(vec![package("a-b", "1.1"), package("c", "2")]).unwrap().id());
        for bad in [
            package("a b", "1"),
            package("a", "1 2"),
            ResolvedPackage { hashes: vec![], ..package("a", "1") },
        ] {
            assert_eq!(set(vec![bad]), None);
        }
        assert_eq!(normalize_package_name("Foo._Bar--baz"), "foo-bar-baz");
    }

    #[test]
    fn npm_packages_stay_below_node_modules() {
        for path in ["a", "@scope/b", "a/node_modules/b", "@s/a/node_modules/@t/b.js", "a~1_2-3"] {
            assert!(is_node_path(path), "{path}");
        }
        for path in ["", "../a", "a/../b", "/a", "a/b", "@a", "a/node_modules/", ".bin", "a b", "@a/b/c"] {
            assert!(!is_node_path(path), "{path}");
        }
    }
}
