//! Resolves imports: a file of the skill, a built-in module, or an error.

use serde_json::Value;

/// The possible imports, for messages.
pub(super) const IMPORTABLE: &str =
    "available imports: files of the skill by relative path, \"@agent/tools\" and \"zod\"";

/// The extensions that an import may omit, in order of precedence.
const EXTENSIONS: [&str; 6] = [".ts", ".mts", ".js", ".mjs", "/index.ts", "/index.js"];

/// Returns the source of a built-in module.
pub(super) fn built_in(name: &str) -> Option<&'static str> {
    Some(match name {
        "@agent/tools" => include_str!("js/tools.js"),
        "prowess:zod" => include_str!("js/zod.js"),
        "prowess:zod-checks" => include_str!("js/zod_checks.js"),
        "prowess:zod-issues" => include_str!("js/zod_issues.js"),
        "prowess:zod-parse" => include_str!("js/zod_parse.js"),
        "prowess:zod-json" => include_str!("js/zod_json.js"),
        _ => return None,
    })
}

/// The files of a skill.
pub(super) trait ModuleFiles {
    /// Returns `true` if the file exists.
    fn has(&self, path: &str) -> bool;
    /// Returns the text of a file, if it can be read.
    fn text(&self, path: &str) -> Option<String>;
}

/// Resolves `specifier` in the module `base`, or returns an error message.
pub(super) fn resolve(files: &impl ModuleFiles, base: &str, specifier: &str) -> Result<String, String> {
    if built_in(base).is_some() && built_in(specifier).is_some() || specifier == "@agent/tools" {
        return Ok(specifier.to_owned());
    }
    if specifier.starts_with("./") || specifier.starts_with("../") || matches!(specifier, "." | "..") {
        let dir = base.rsplit_once('/').map_or("", |(dir, _)| dir);
        let path = join(dir, specifier).ok_or_else(|| format!("{specifier} is outside of the skill"))?;
        return find_file(files, &path).ok_or_else(|| format!("module {path} not found"));
    }
    if specifier == "zod" || specifier.starts_with("zod/") {
        return resolve_zod(files, base, specifier);
    }
    let reason = match specifier {
        _ if specifier.starts_with("node:") || NODE_MODULES.contains(&specifier) => {
            "toolsets have no file system, no network and no processes"
        }
        _ if specifier.starts_with('/') || specifier.contains(':') => "it is outside of the skill",
        _ => "packages are not loaded",
    };
    Err(format!("cannot import {specifier:?}: {reason}; {IMPORTABLE}"))
}

/// Modules of Node.js that are commonly imported without `node:`.
const NODE_MODULES: [&str; 12] = [
    "fs",
    "path",
    "os",
    "http",
    "https",
    "net",
    "child_process",
    "crypto",
    "process",
    "util",
    "url",
    "fs/promises",
];

/// Returns the file that a path means; its extension may be missing.
pub(super) fn find_file(files: &impl ModuleFiles, path: &str) -> Option<String> {
    let known =
        [".ts", ".mts", ".js", ".mjs", ".cjs", ".json"].iter().any(|extension| path.ends_with(extension));
    if known && files.has(path) {
        return Some(path.to_owned());
    }
    // TypeScript refers to a TypeScript file by the name of its output.
    let as_typescript = [(".js", ".ts"), (".mjs", ".mts")]
        .iter()
        .filter_map(|(js, ts)| path.strip_suffix(js).map(|stem| format!("{stem}{ts}")));
    let path = path.trim_end_matches('/');
    let completed = EXTENSIONS.iter().map(|extension| format!("{path}{extension}"));
    as_typescript.chain(completed).find(|candidate| files.has(candidate))
}

/// Joins a relative path to a directory. Returns `None` if it leads outside of the skill.
fn join(dir: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = dir.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// Returns the zod of the skill that is nearest to the importing module, or the built-in one.
fn resolve_zod(files: &impl ModuleFiles, base: &str, specifier: &str) -> Result<String, String> {
    let mut dir = base.rsplit_once('/').map_or("", |(dir, _)| dir);
    loop {
        let in_dir = |inner: &str| join(dir, inner).unwrap_or_default();
        let package = in_dir("node_modules/zod");
        if files.has(&format!("{package}/package.json")) {
            let package_json = files.text(&format!("{package}/package.json")).unwrap_or_default();
            let entry = package_entry(&package_json, specifier.strip_prefix("zod").unwrap_or_default());
            let found =
                entry.and_then(|entry| join(&package, &entry)).and_then(|path| find_file(files, &path));
            return found.ok_or_else(|| format!("zod in {package} has no ES module for {specifier:?}"));
        }
        if specifier == "zod" {
            let single = ["zod.mjs", "zod.js", "zod.ts"].map(in_dir);
            if let Some(path) = single.into_iter().find(|path| path != base && files.has(path)) {
                return Ok(path);
            }
        }
        if dir.is_empty() {
            break;
        }
        dir = dir.rsplit_once('/').map_or("", |(parent, _)| parent);
    }
    match specifier {
        "zod" | "zod/v4" => Ok("prowess:zod".to_owned()),
        _ => Err(format!("{specifier:?} is not part of the built-in zod; bundle zod with the skill")),
    }
}

/// Returns the ES module of a `package.json` for a path of the package (`""` or `/v4`).
fn package_entry(package_json: &str, path: &str) -> Option<String> {
    let package_json: Value = serde_json::from_str(package_json).ok()?;
    let Some(exports) = package_json.get("exports") else {
        let main = || {
            package_json
                .get("module")
                .or_else(|| package_json.get("main"))
                .and_then(Value::as_str)
                .map(String::from)
        };
        return if path.is_empty() {
            main().or_else(|| Some("index.js".to_owned()))
        } else {
            Some(format!(".{path}"))
        };
    };
    let by_path = exports.get(format!(".{path}"));
    import_target(by_path.or_else(|| Some(exports).filter(|_| path.is_empty()))?)
}

/// Returns the file for ES imports from nested conditions.
fn import_target(exports: &Value) -> Option<String> {
    match exports {
        Value::String(file) => Some(file.clone()),
        Value::Object(conditions) => ["import", "module", "default"]
            .iter()
            .find_map(|name| conditions.get(*name))
            .and_then(import_target),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    struct TestFiles(BTreeMap<&'static str, &'static str>);

    impl ModuleFiles for TestFiles {
        fn has(&self, path: &str) -> bool {
            self.0.contains_key(path)
        }

        fn text(&self, path: &str) -> Option<String> {
            self.0.get(path).map(|text| (*text).to_owned())
        }
    }

    fn test_files(files: &[(&'static str, &'static str)]) -> TestFiles {
        TestFiles(files.iter().copied().collect())
    }

    #[test]
    fn extensions_and_directories_are_resolved() {
        let files = test_files(&[
            ("t/index.ts", ""),
            ("t/a.js", ""),
            ("t/b.mts", ""),
            ("lib/c.ts", ""),
            ("t/d/index.ts", ""),
        ]);
        let resolved = |specifier| resolve(&files, "t/index.ts", specifier);
        for (specifier, expected) in [
            ("./a", "t/a.js"),
            ("./a.js", "t/a.js"),
            ("./b.mjs", "t/b.mts"),
            ("../lib/c.js", "lib/c.ts"),
            ("./d", "t/d/index.ts"),
            ("./d/", "t/d/index.ts"),
            (".", "t/index.ts"),
            ("@agent/tools", "@agent/tools"),
            ("zod", "prowess:zod"),
        ] {
            assert_eq!(resolved(specifier).as_deref(), Ok(expected), "{specifier}");
        }
        assert_eq!(resolved("../../x"), Err("../../x is outside of the skill".to_owned()));
        assert_eq!(resolved("./none"), Err("module t/none not found".to_owned()));
    }

    #[test]
    fn other_imports_are_refused_by_name() {
        let files = test_files(&[]);
        for specifier in
            ["fs", "node:fs", "/etc/passwd", "https://a.b/c.js", "lodash", "prowess:zod-json", "zod/mini"]
        {
            let message = resolve(&files, "t/index.ts", specifier).unwrap_err();
            assert!(message.contains(specifier), "{message}");
        }
    }

    #[test]
    fn the_nearest_zod_is_used() {
        const PACKAGE: &str = r#"{"main": "./index.cjs", "exports": {".": {"types": "./index.d.ts",
            "require": "./index.cjs", "import": "./index.js"}, "./v4": {"import": {"default": "./v4/index.js"}}}}"#;
        let files = test_files(&[
            ("t/zod.js", ""),
            ("node_modules/zod/package.json", PACKAGE),
            ("node_modules/zod/index.js", ""),
            ("node_modules/zod/v4/index.js", ""),
        ]);
        assert_eq!(resolve(&files, "t/index.ts", "zod").as_deref(), Ok("t/zod.js"));
        assert_eq!(resolve(&files, "t/zod.js", "zod").as_deref(), Ok("node_modules/zod/index.js"));
        assert_eq!(resolve(&files, "u/index.ts", "zod").as_deref(), Ok("node_modules/zod/index.js"));
        assert_eq!(resolve(&files, "u/index.ts", "zod/v4").as_deref(), Ok("node_modules/zod/v4/index.js"));
        assert!(resolve(&files, "u/index.ts", "zod/v9").is_err());
    }
}
