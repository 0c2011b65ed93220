//! What an import means: a file of the skill, a module of ours, or an error that says what can be imported.

use serde_json::Value;

/// What can be imported, for messages.
pub(super) const IMPORTABLE: &str =
    "what can be imported: files of the skill by relative path, \"@agent/tools\", and \"zod\"";

/// The endings that an import may leave out, in the order they are tried.
const ENDINGS: [&str; 6] = [".ts", ".mts", ".js", ".mjs", "/index.ts", "/index.js"];

/// A module of ours.
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

/// What the modules of a skill are found in.
pub(super) trait Files {
    /// Whether there is such a file.
    fn has(&self, path: &str) -> bool;
    /// Its text, if it can be read.
    fn text(&self, path: &str) -> Option<String>;
}

/// The module that `specifier` means in the module `base`, or what is wrong with it.
pub(super) fn resolve(files: &impl Files, base: &str, specifier: &str) -> Result<String, String> {
    if built_in(base).is_some() && built_in(specifier).is_some() || specifier == "@agent/tools" {
        return Ok(specifier.to_owned());
    }
    if specifier.starts_with("./") || specifier.starts_with("../") || matches!(specifier, "." | "..") {
        let folder = base.rsplit_once('/').map_or("", |(folder, _)| folder);
        let path = join(folder, specifier).ok_or_else(|| format!("{specifier} leads out of the skill"))?;
        return file(files, &path).ok_or_else(|| format!("there is no module {path}"));
    }
    if specifier == "zod" || specifier.starts_with("zod/") {
        return zod(files, base, specifier);
    }
    let why = match specifier {
        _ if specifier.starts_with("node:") || NODE.contains(&specifier) => {
            "toolsets have no file system, no network and no processes"
        }
        _ if specifier.starts_with('/') || specifier.contains(':') => "it is not inside the skill",
        _ => "packages are not loaded",
    };
    Err(format!("{specifier:?} cannot be imported: {why}; {IMPORTABLE}"))
}

/// Modules of other runtimes that people import without `node:`.
const NODE: [&str; 12] = [
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

/// The file that a path without its ending means.
pub(super) fn file(files: &impl Files, path: &str) -> Option<String> {
    let known = [".ts", ".mts", ".js", ".mjs", ".cjs", ".json"].iter().any(|ending| path.ends_with(ending));
    if known && files.has(path) {
        return Some(path.to_owned());
    }
    // TypeScript's own way of naming a TypeScript file is to call it by what it is going to be.
    let as_typescript = [(".js", ".ts"), (".mjs", ".mts")]
        .iter()
        .filter_map(|(js, ts)| path.strip_suffix(js).map(|stem| format!("{stem}{ts}")));
    let path = path.trim_end_matches('/');
    let completed = ENDINGS.iter().map(|ending| format!("{path}{ending}"));
    as_typescript.chain(completed).find(|candidate| files.has(candidate))
}

/// A relative path below a folder; `None` where it leads out.
fn join(folder: &str, relative: &str) -> Option<String> {
    let mut kept: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(kept.pop()?),
            name => kept.push(name),
        }
    }
    Some(kept.join("/"))
}

/// The zod that the skill ships, nearest to the module that imports it; else ours.
fn zod(files: &impl Files, base: &str, specifier: &str) -> Result<String, String> {
    let mut folder = base.rsplit_once('/').map_or("", |(folder, _)| folder);
    loop {
        let beneath = |inner: &str| join(folder, inner).unwrap_or_default();
        let package = beneath("node_modules/zod");
        if files.has(&format!("{package}/package.json")) {
            let about = files.text(&format!("{package}/package.json")).unwrap_or_default();
            let entry = entry(&about, specifier.strip_prefix("zod").unwrap_or_default());
            let found = entry.and_then(|entry| join(&package, &entry)).and_then(|path| file(files, &path));
            return found.ok_or_else(|| format!("the zod in {package} has no ES module for {specifier:?}"));
        }
        if specifier == "zod" {
            let single = ["zod.mjs", "zod.js", "zod.ts"].map(beneath);
            if let Some(path) = single.into_iter().find(|path| path != base && files.has(path)) {
                return Ok(path);
            }
        }
        if folder.is_empty() {
            break;
        }
        folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
    }
    match specifier {
        "zod" | "zod/v4" => Ok("prowess:zod".to_owned()),
        _ => Err(format!("{specifier:?} is not in the built-in zod; ship zod with the skill")),
    }
}

/// The ES module that a `package.json` names for a path of the package (`""` or `/v4`).
fn entry(about: &str, path: &str) -> Option<String> {
    let about: Value = serde_json::from_str(about).ok()?;
    let Some(exports) = about.get("exports") else {
        let main =
            || about.get("module").or_else(|| about.get("main")).and_then(Value::as_str).map(String::from);
        return if path.is_empty() {
            main().or_else(|| Some("index.js".to_owned()))
        } else {
            Some(format!(".{path}"))
        };
    };
    let by_path = exports.get(format!(".{path}"));
    condition(by_path.or_else(|| Some(exports).filter(|_| path.is_empty()))?)
}

/// The file for those who import, however deep it is.
fn condition(exports: &Value) -> Option<String> {
    match exports {
        Value::String(file) => Some(file.clone()),
        Value::Object(by) => {
            ["import", "module", "default"].iter().find_map(|name| by.get(*name)).and_then(condition)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    struct Tree(BTreeMap<&'static str, &'static str>);

    impl Files for Tree {
        fn has(&self, path: &str) -> bool {
            self.0.contains_key(path)
        }

        fn text(&self, path: &str) -> Option<String> {
            self.0.get(path).map(|text| (*text).to_owned())
        }
    }

    fn tree(files: &[(&'static str, &'static str)]) -> Tree {
        Tree(files.iter().copied().collect())
    }

    #[test]
    fn endings_and_folders_are_found() {
        let files = tree(&[
            ("t/index.ts", ""),
            ("t/a.js", ""),
            ("t/b.mts", ""),
            ("lib/c.ts", ""),
            ("t/d/index.ts", ""),
        ]);
        let of = |specifier| resolve(&files, "t/index.ts", specifier);
        for (specifier, found) in [
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
            assert_eq!(of(specifier).as_deref(), Ok(found), "{specifier}");
        }
        assert_eq!(of("../../x"), Err("../../x leads out of the skill".to_owned()));
        assert_eq!(of("./none"), Err("there is no module t/none".to_owned()));
    }

    #[test]
    fn whatever_else_is_imported_is_named() {
        let files = tree(&[]);
        for specifier in
            ["fs", "node:fs", "/etc/passwd", "https://a.b/c.js", "lodash", "prowess:zod-json", "zod/mini"]
        {
            let said = resolve(&files, "t/index.ts", specifier).unwrap_err();
            assert!(said.contains(specifier), "{said}");
        }
    }

    #[test]
    fn the_nearest_zod_counts() {
        const PACKAGE: &str = r#"{"main": "./index.cjs", "exports": {".": {"types": "./index.d.ts",
            "require": "./index.cjs", "import": "./index.js"}, "./v4": {"import": {"default": "./v4/index.js"}}}}"#;
        let files = tree(&[
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
