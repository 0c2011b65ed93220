//! The details of one skill.

use prowess::format::Value;
use prowess::lock::GrantedAccess;
use prowess::remote::RemoteSkill;
use prowess::remote::approvals::ApprovalStatus;
use prowess::{FileListing, HostEnv, Policy, Skill};
use prowess_sandbox::RequestedVariable;
use serde_json::{Map, json};

use super::{DiagnosticJson, Provenance, SkillJson};
use crate::tokens;

/// The details of one skill.
#[derive(Debug)]
pub struct SkillDetails {
    /// Its files.
    pub files: FileListing,
    /// Its `SKILL.md`.
    pub source: Option<Vec<u8>>,
    /// The hash of all its files, or the reason why there is none.
    pub tree_hash: Result<String, String>,
    /// Where it was installed from.
    pub provenance: Option<Provenance>,
    /// The environment variables that it needs.
    pub variables: Vec<RequestedVariable>,
    /// The user's grants.
    pub granted: GrantedAccess,
}

impl SkillDetails {
    /// Collects the details. Reads and hashes all files.
    pub fn collect(skill: &Skill, policy: &Policy, host: &HostEnv) -> Self {
        let tree_hash = match skill.root().is_embedded() {
            true => Err("bundled skills are part of the binary".to_owned()),
            false if skill.root().is_remote() => Err("remote skills are on their server".to_owned()),
            false if skill.is_command() => Err("a custom command is a single file".to_owned()),
            // Files behind a symlink to outside the known directories are not read.
            false if skill.is_outside_known_dirs() => Err("outside the known directories".to_owned()),
            false => prowess::tree_hash(&skill.canonical_dir()).map_err(|error| error.to_string()),
        };
        let provenance = Provenance::for_skill(skill, host);
        let environment: Vec<_> = std::env::vars_os().collect();
        let variables = prowess_sandbox::requested_variables(skill, policy, host, &environment);
        let (contents, source) = (FileListing::for_skill(skill), skill.read_skill_md());
        let granted = prowess::grants::grants_for_skill(skill, &policy.run, host);
        Self { files: contents, source, tree_hash, provenance, variables, granted }
    }

    /// Returns the number of tokens of the catalog entry and of the whole file.
    pub fn tokens(&self, skill: &Skill) -> (usize, usize) {
        let entry = tokens::count(&format!("{}: {}", skill.name(), skill.full_description()));
        let file = self.source.as_deref().map_or(0, |source| tokens::count(&String::from_utf8_lossy(source)));
        (entry, file)
    }

    /// Returns the details as JSON.
    pub fn to_json(&self, skill: &Skill) -> serde_json::Value {
        let (catalog, file) = self.tokens(skill);
        let files: Vec<_> = self
            .files
            .files
            .iter()
            .map(|file| json!({"path": file.path, "bytes": file.bytes, "executable": file.executable}))
            .collect();
        let env: Vec<_> = self
            .variables
            .iter()
            .map(|variable| json!({"name": variable.name, "granted": variable.granted, "set": variable.is_set}))
            .collect();
        let location = skill.skill_md_path();
        let diagnostics: Vec<_> =
            skill.diagnostics().iter().map(|diagnostic| DiagnosticJson::new(&location, diagnostic)).collect();
        let mut json_value = json!({
            "schema": 1,
            "skill": SkillJson::new(skill),
            "fields": manifest_fields(skill),
            "files": files,
            "files_cut": self.files.truncated,
            "files_refused": self.files.skipped,
            "tokens": {"catalog": catalog, "skill_md": file, "encoding": tokens::ENCODING, "estimate": true},
            "digest": self.source.as_deref().map(prowess::digest),
            "tree_hash": self.tree_hash.as_ref().ok(),
            "installed": self.provenance.as_ref().map(Provenance::to_json),
            "env": env,
            "granted": self.granted,
            "link": skill.link().map(|link| json!({"target": link.target, "known": link.is_known})),
            "diagnostics": diagnostics,
        });
        if let Some(remote) = skill.remote() {
            json_value["mcp"] = remote_json(remote);
        }
        json_value
    }
}

/// Returns the parsed fields of the manifest.
pub fn manifest_fields(skill: &Skill) -> serde_json::Value {
    let Some(manifest) = skill.manifest() else { return serde_json::Value::Null };
    let mut fields = Map::new();
    let mut insert = |key: &str, value: serde_json::Value| {
        if !value.is_null() {
            fields.insert(key.to_owned(), value);
        }
    };
    insert("name", json!(manifest.name().as_str()));
    insert("description", json!(manifest.description()));
    insert("license", json!(manifest.license()));
    insert("compatibility", json!(manifest.compatibility()));
    let metadata: Map<_, _> =
        manifest.metadata().map(|(key, value)| (key.to_owned(), json!(value))).collect();
    insert("metadata", if metadata.is_empty() { json!(null) } else { json!(metadata) });
    insert("allowed-tools", json!(manifest.allowed_tools()));
    insert("version", json!(manifest.version()));
    insert("toolsets", list_or_null(manifest.toolsets().iter().map(|toolset| json!(toolset)).collect()));
    insert("scripts", list_or_null(manifest.scripts().iter().map(value_json).collect()));
    if let Some(triggers) = manifest.triggers() {
        insert(
            "triggers",
            json!({"keywords": triggers.keywords, "verbs": triggers.verbs, "patterns": triggers.patterns}),
        );
    }
    insert("default_enabled", if manifest.default_enabled() { json!(null) } else { json!(false) });
    insert("brief_description", json!(manifest.brief_description()));
    insert(
        "disable-model-invocation",
        if manifest.disable_model_invocation() { json!(true) } else { json!(null) },
    );
    insert("user-invocable", if manifest.user_invocable() { json!(null) } else { json!(false) });
    insert("argument-hint", json!(manifest.argument_hint()));
    insert("arguments", list_or_null(manifest.arguments().iter().map(|name| json!(name)).collect()));
    insert("when_to_use", json!(manifest.when_to_use()));
    insert("context", if manifest.is_forked() { json!("fork") } else { json!(null) });
    insert("paths", list_or_null(manifest.paths().iter().map(|glob| json!(glob)).collect()));
    for (key, value) in manifest.unknown_fields() {
        insert(key, value_json(value));
    }
    fields.into()
}

fn list_or_null(list: Vec<serde_json::Value>) -> serde_json::Value {
    if list.is_empty() { json!(null) } else { list.into() }
}

/// Converts a YAML value to JSON; numbers that JSON cannot represent stay text.
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

/// Returns the details of a remote skill, with all listed files.
pub fn remote_json(remote: &RemoteSkill) -> serde_json::Value {
    let entry = remote.entry();
    let files: Vec<_> = entry
        .files
        .iter()
        .map(|file| json!({"path": file.path, "uri": file.uri, "digest": file.digest, "bytes": file.size}))
        .collect();
    let grants = remote.approval().grants();
    json!({
        "server": remote.label(),
        "uri": entry.uri,
        "approved": matches!(remote.approval(), ApprovalStatus::Approved(_)),
        "changed": remote.approval() == ApprovalStatus::Changed,
        "allow_tools": grants.allow_tools,
        "allow_run": grants.allow_run,
        "files": files,
    })
}
