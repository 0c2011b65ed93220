//! Everything about one skill.

use prowess::format::Value;
use prowess::lock::Granted;
use prowess::supply::Supplied;
use prowess::supply::approvals::Standing;
use prowess::{Contents, Policy, Skill, Surroundings};
use prowess_sandbox::Variable;
use serde_json::{Map, json};

use super::{DiagnosticJson, Provenance, SkillJson};
use crate::tokens;

/// What has to be looked up to tell everything about one skill.
#[derive(Debug)]
pub struct Facts {
    /// Its files.
    pub contents: Contents,
    /// Its `SKILL.md`.
    pub source: Option<Vec<u8>>,
    /// The hash of all its files, or why there is none.
    pub tree_hash: Result<String, String>,
    /// What the lock says.
    pub provenance: Option<Provenance>,
    /// The variables that it needs.
    pub variables: Vec<Variable>,
    /// What the user grants to it.
    pub granted: Granted,
}

impl Facts {
    /// Looks it up: this reads and hashes all files.
    pub fn gather(skill: &Skill, policy: &Policy, world: &Surroundings) -> Self {
        let tree_hash = match skill.root().is_embedded() {
            true => Err("part of the binary".to_owned()),
            false if skill.root().is_supplied() => Err("at its server".to_owned()),
            // What lies behind a link that leads outside is not looked at.
            false if skill.is_outside() => Err("it lies outside".to_owned()),
            false => prowess::tree_hash(&skill.canonical_folder()).map_err(|error| error.to_string()),
        };
        let provenance = Provenance::of(skill, world);
        let environment: Vec<_> = std::env::vars_os().collect();
        let variables = prowess_sandbox::variables(skill, policy, world, &environment);
        let (contents, source) = (Contents::of(skill), skill.read_source());
        let granted = prowess::grants::granted(skill, &policy.run, world);
        Self { contents, source, tree_hash, provenance, variables, granted }
    }

    /// Tokens of the catalog's entry, and of the whole file.
    pub fn tokens(&self, skill: &Skill) -> (usize, usize) {
        let entry = tokens::count(&format!("{}: {}", skill.name(), skill.description()));
        let file = self.source.as_deref().map_or(0, |source| tokens::count(&String::from_utf8_lossy(source)));
        (entry, file)
    }

    /// For programs.
    pub fn json(&self, skill: &Skill) -> serde_json::Value {
        let (catalog, file) = self.tokens(skill);
        let files: Vec<_> = self
            .contents
            .files
            .iter()
            .map(|file| json!({"path": file.path, "bytes": file.bytes, "executable": file.executable}))
            .collect();
        let env: Vec<_> = self
            .variables
            .iter()
            .map(|it| json!({"name": it.name, "granted": it.granted, "set": it.is_set}))
            .collect();
        let location = skill.location();
        let diagnostics: Vec<_> =
            skill.diagnostics().iter().map(|diagnostic| DiagnosticJson::new(&location, diagnostic)).collect();
        let mut answer = json!({
            "schema": 1,
            "skill": SkillJson::of(skill),
            "fields": fields(skill),
            "files": files,
            "files_cut": self.contents.cut,
            "files_refused": self.contents.refused,
            "tokens": {"catalog": catalog, "skill_md": file, "encoding": tokens::ENCODING, "estimate": true},
            "digest": self.source.as_deref().map(prowess::digest),
            "tree_hash": self.tree_hash.as_ref().ok(),
            "installed": self.provenance.as_ref().map(Provenance::json),
            "env": env,
            "granted": self.granted,
            "link": skill.link().map(|link| json!({"target": link.target, "known": link.known})),
            "diagnostics": diagnostics,
        });
        if let Some(supplied) = skill.supplied() {
            answer["mcp"] = served(supplied);
        }
        answer
    }
}

/// The fields of the manifest as they were understood.
pub fn fields(skill: &Skill) -> serde_json::Value {
    let Some(manifest) = skill.manifest() else { return serde_json::Value::Null };
    let mut fields = Map::new();
    let mut put = |key: &str, value: serde_json::Value| {
        if !value.is_null() {
            fields.insert(key.to_owned(), value);
        }
    };
    put("name", json!(manifest.name().as_str()));
    put("description", json!(manifest.description()));
    put("license", json!(manifest.license()));
    put("compatibility", json!(manifest.compatibility()));
    let metadata: Map<_, _> =
        manifest.metadata().map(|(key, value)| (key.to_owned(), json!(value))).collect();
    put("metadata", if metadata.is_empty() { json!(null) } else { json!(metadata) });
    put("allowed-tools", json!(manifest.allowed_tools()));
    put("version", json!(manifest.version()));
    put("toolsets", list_or_null(manifest.toolsets().iter().map(|toolset| json!(toolset)).collect()));
    put("scripts", list_or_null(manifest.scripts().iter().map(value_json).collect()));
    if let Some(triggers) = manifest.triggers() {
        put(
            "triggers",
            json!({"keywords": triggers.keywords, "verbs": triggers.verbs, "patterns": triggers.patterns}),
        );
    }
    put("default_enabled", if manifest.default_enabled() { json!(null) } else { json!(false) });
    put("brief_description", json!(manifest.brief_description()));
    put(
        "disable-model-invocation",
        if manifest.disable_model_invocation() { json!(true) } else { json!(null) },
    );
    put("user-invocable", if manifest.user_invocable() { json!(null) } else { json!(false) });
    put("argument-hint", json!(manifest.argument_hint()));
    for (key, value) in manifest.other() {
        put(key, value_json(value));
    }
    fields.into()
}

fn list_or_null(list: Vec<serde_json::Value>) -> serde_json::Value {
    if list.is_empty() { json!(null) } else { list.into() }
}

/// A YAML value as JSON; numbers that JSON does not know stay text.
fn value_json(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => json!(null),
        Value::Bool(truth) => json!(truth),
        Value::Number(text) => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
        Value::Text(text) => json!(text),
        Value::List(items) => items.iter().map(value_json).collect(),
        Value::Map(entries) => entries
            .iter()
            .map(|(key, value)| (key.to_string(), value_json(value)))
            .collect::<Map<_, _>>()
            .into(),
    }
}

/// The same for programs, with every file as it is listed.
pub fn served(supplied: &Supplied) -> serde_json::Value {
    let offered = supplied.offered();
    let files: Vec<_> = offered
        .files
        .iter()
        .map(|file| json!({"path": file.path, "uri": file.uri, "digest": file.digest, "bytes": file.size}))
        .collect();
    let grants = supplied.standing().grants();
    json!({
        "server": supplied.label(),
        "uri": offered.uri,
        "approved": matches!(supplied.standing(), Standing::Approved(_)),
        "changed": supplied.standing() == Standing::Changed,
        "allow_tools": grants.allow_tools,
        "allow_run": grants.allow_run,
        "files": files,
    })
}
