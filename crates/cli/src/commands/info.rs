//! `prowess info`: everything about one skill.

use prowess::format::Value;
use prowess::lock::Granted;
use prowess::{Contents, Skill, short_path};
use serde_json::{Map, json};

use super::provenance::Provenance;
use super::{Outcome, YES, find, list, place, print_located, served, standing};
use crate::args::Global;
use crate::context::Context;
use crate::output::{Output, Tone, clean, clean_path, counted};
use crate::report::DiagnosticJson;
use prowess_run::script::{self, Variable};
use prowess_tools::tokens;

pub(super) fn run(context: &Context, global: &Global, name: &str, output: &mut Output) -> Outcome {
    let registry = context.registry_of(global, &[name]);
    let snapshot = registry.snapshot();
    let skill = find(&snapshot, name)?;
    let facts = Facts::gather(skill, context);
    if output.json() {
        output.answer(&facts.json(skill))?;
    } else {
        facts.print(skill, context, output)?;
        let said: Vec<_> = skill
            .diagnostics()
            .iter()
            .map(|diagnostic| prowess::Located::new(skill.location(), diagnostic.clone()))
            .collect();
        print_located(output, &said);
    }
    Ok(YES)
}

/// What is looked up for this command alone.
struct Facts {
    contents: Contents,
    source: Option<Vec<u8>>,
    tree_hash: Result<String, String>,
    provenance: Option<Provenance>,
    /// The variables that it needs.
    variables: Vec<Variable>,
    /// What the user grants to it.
    granted: Granted,
}

impl Facts {
    fn gather(skill: &Skill, context: &Context) -> Self {
        let tree_hash = match skill.root().is_embedded() {
            true => Err("part of the binary".to_owned()),
            false if skill.root().is_supplied() => Err("at its server".to_owned()),
            // What lies behind a link that leads outside is not looked at.
            false if skill.is_outside() => Err("it lies outside".to_owned()),
            false => prowess::tree_hash(&skill.canonical_folder()).map_err(|error| error.to_string()),
        };
        let provenance = Provenance::of(skill, context);
        let environment: Vec<_> = std::env::vars_os().collect();
        let variables = script::variables(skill, context.policy(), &context.surroundings, &environment);
        let (contents, source) = (Contents::of(skill), skill.read_source());
        let granted = prowess::grants::granted(skill, &context.policy().run, &context.surroundings);
        Self { contents, source, tree_hash, provenance, variables, granted }
    }

    /// Tokens of the catalog's entry, and of the whole file.
    fn tokens(&self, skill: &Skill) -> (usize, usize) {
        let entry = tokens::count(&format!("{}: {}", skill.name(), skill.description()));
        let file = self.source.as_deref().map_or(0, |source| tokens::count(&String::from_utf8_lossy(source)));
        (entry, file)
    }

    fn json(&self, skill: &Skill) -> serde_json::Value {
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
            "skill": list::SkillJson::of(skill),
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
            answer["mcp"] = served::json(supplied);
        }
        answer
    }

    fn print(&self, skill: &Skill, context: &Context, output: &mut Output) -> std::io::Result<()> {
        let (catalog, file) = self.tokens(skill);
        let title = output.tone(Tone::Strong, &skill.name());
        output.line(format!("{title}  {}", clean(skill.description())).trim_end())?;
        output.line("")?;
        let status = match standing(skill) {
            None => "enabled".to_owned(),
            Some((status, rest)) => format!("{status} {rest}"),
        };
        let short = |path: &std::path::Path| clean_path(&short_path(path, &context.surroundings));
        let mut rows: Vec<(String, String)> = vec![
            ("status".into(), status),
            ("id".into(), skill.id().into_owned()),
            ("location".into(), short(&skill.location())),
            (
                "source".into(),
                match skill.root().is_embedded() {
                    true => place(skill.root(), context),
                    false => format!("{} ({})", place(skill.root(), context), skill.root().scope().as_str()),
                },
            ),
            (
                "size".into(),
                format!(
                    "{} in SKILL.md, {} in {}",
                    counted(usize::try_from(skill.bytes()).unwrap_or(usize::MAX), "byte"),
                    self.contents.bytes(),
                    counted(self.contents.files.len(), "file")
                ),
            ),
            (
                "tokens".into(),
                match skill.supplied() {
                    None => {
                        format!(
                            "about {catalog} in the catalog, {file} when activated ({})",
                            tokens::ENCODING
                        )
                    }
                    Some(_) => format!("about {catalog} in the catalog ({})", tokens::ENCODING),
                },
            ),
        ];
        rows.extend(skill.supplied().into_iter().flat_map(served::rows));
        if let Some(source) = &self.source {
            rows.push(("digest".into(), prowess::digest(source)));
        }
        match &self.tree_hash {
            Ok(hash) => rows.push(("tree".into(), hash.clone())),
            Err(why) => rows.push(("tree".into(), format!("none: {why}"))),
        }
        rows.extend(self.provenance.iter().flat_map(|provenance| provenance.rows(context)));
        if let Some(link) = skill.link() {
            rows.push(("link to".into(), clean_path(&link.target)));
        }
        rows.extend(self.variables.iter().map(|variable| {
            let told = match (variable.granted, variable.is_set) {
                (true, true) => "granted and set",
                (true, false) => "granted, not set",
                (false, true) => "set, not granted: see run.env",
                (false, false) => "neither granted nor set: see run.env",
            };
            (format!("needs {}", variable.name), told.to_owned())
        }));
        let recorded = self.provenance.as_ref().and_then(|provenance| provenance.recorded(&self.granted));
        if !self.granted.is_empty() || recorded.is_some() {
            let recorded = recorded.map(|told| format!("; the lock still says {told}")).unwrap_or_default();
            rows.push(("granted".into(), format!("{}{recorded}", clean(&self.granted.told()))));
        }
        if let serde_json::Value::Object(fields) = fields(skill) {
            // These were told above, or follow from them.
            let told = ["name", "description", "brief_description"];
            for (key, value) in fields.into_iter().filter(|(key, _)| !told.contains(&key.as_str())) {
                match value {
                    // Metadata and triggers: one row for each of their entries.
                    serde_json::Value::Object(entries) => {
                        let entries = entries.into_iter();
                        rows.extend(entries.map(|(inner, value)| (format!("{key}.{inner}"), plain(&value))));
                    }
                    value => rows.push((key, plain(&value))),
                }
            }
        }
        for (key, value) in rows {
            let key = output.tone(Tone::Faint, &format!("{key:24}"));
            output.line(format!("  {key} {}", clean(&value)))?;
        }
        output.line("")?;
        for file in &self.contents.files {
            let mark = if file.executable { "*" } else { "" };
            output.line(format!("  {:>9}  {}{mark}", file.bytes, clean(&file.path)))?;
        }
        for refused in &self.contents.refused {
            output.line(format!("  {:>9}  {} (never read)", "link", clean(refused)))?;
        }
        if self.contents.cut {
            output.line("  … and more files than are listed")?;
        }
        Ok(())
    }
}

/// The fields of the manifest as they were understood.
fn fields(skill: &Skill) -> serde_json::Value {
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

/// A value as people write it.
fn plain(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
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
