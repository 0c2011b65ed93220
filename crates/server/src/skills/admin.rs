//! All there is to know about all skills, for administrators: which copies there are, what is wrong, what is used.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use prowess::registry::Shadowed;
use prowess::{Skill, Snapshot, Status};
use prowess_chat::store::SkillUse;
use prowess_package::Place;
use prowess_tools::key;
use prowess_tools::shapes::{DiagnosticJson, SkillJson};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::{blocking, told};
use crate::app::App;
use crate::guard::Admin;
use crate::live::Loaded;
use crate::problem::{Answer, Problem};

/// Everything about all skills.
#[derive(ToSchema)]
#[allow(dead_code, reason = "it is described, not made")]
pub(crate) struct Administered {
    schema: u32,
    /// Whatever became of them.
    skills: Vec<AdministeredSkill>,
    /// Names that several have.
    collisions: Vec<Collision>,
    diagnostics: Vec<told::DiagnosticEntry>,
}

/// One of them.
#[derive(ToSchema)]
#[allow(dead_code, reason = "it is described, not made")]
pub(crate) struct AdministeredSkill {
    #[serde(flatten)]
    skill: told::SkillEntry,
    /// How often it was used in chats.
    uses: u64,
    /// When it was last used, in milliseconds since 1970.
    last_used: Option<u64>,
    warnings: usize,
    errors: usize,
    /// Whether it may be changed here.
    editable: bool,
    /// Why it may not be.
    not_editable_because: Option<String>,
}

/// Copies of one name.
#[derive(ToSchema)]
#[allow(dead_code, reason = "it is described, not made")]
pub(crate) struct Collision {
    name: String,
    /// The one that counts.
    winner: String,
    /// The others.
    others: Vec<String>,
}

/// Every skill that was found, with uses, problems and collisions.
#[utoipa::path(get, path = "/api/admin/skills", tag = "skills",
    responses((status = 200, body = Administered), (status = 403, body = Problem)))]
pub(crate) async fn skills(State(app): State<App>, _: Admin) -> Answer<Json<Value>> {
    let loaded = app.live.now();
    let snapshot = loaded.skills().await;
    let uses = app.store.skill_uses().await?;
    blocking(move || everything(&snapshot, &loaded, &uses)).await.map(Json)
}

fn everything(snapshot: &Snapshot, loaded: &Arc<Loaded>, uses: &[SkillUse]) -> Value {
    let uses: HashMap<&str, &SkillUse> = uses.iter().map(|used| (used.name.as_str(), used)).collect();
    let skills: Vec<Value> = snapshot.all().iter().map(|skill| one(skill, loaded, &uses)).collect();
    let diagnostics: Vec<_> = snapshot.diagnostics().collect();
    let diagnostics: Vec<_> =
        diagnostics.iter().map(|located| DiagnosticJson::new(&located.path, &located.diagnostic)).collect();
    json!({
        "schema": 1,
        "skills": skills,
        "collisions": collisions(snapshot),
        "diagnostics": diagnostics,
    })
}

fn one(skill: &Skill, loaded: &Loaded, uses: &HashMap<&str, &SkillUse>) -> Value {
    let (policy, world) = (loaded.registry.policy(), loaded.registry.surroundings());
    let called = key(skill, policy);
    // What is not offered was not used, whatever has its name.
    let used = uses.get(called.as_ref()).filter(|_| !matches!(skill.status(), Status::Shadowed(_)));
    let errors = skill.diagnostics().iter().filter(|said| said.is_error()).count();
    let place = Place::of_own(skill, policy, world);
    let mut told = json!(SkillJson::of(skill));
    for (key, value) in [
        ("uses", json!(used.map_or(0, |used| used.count))),
        ("last_used", json!(used.map(|used| used.last))),
        ("warnings", json!(skill.diagnostics().len() - errors)),
        ("errors", json!(errors)),
        ("editable", json!(place.is_ok())),
        ("not_editable_because", json!(place.err().map(|why| why.to_string()))),
    ] {
        told[key] = value;
    }
    told
}

/// Skills that another took the place of, by the one that counts.
fn collisions(snapshot: &Snapshot) -> Vec<Value> {
    let mut copies: BTreeMap<PathBuf, (String, Vec<PathBuf>)> = BTreeMap::new();
    for skill in snapshot.all() {
        if let Status::Shadowed(Shadowed { by, same_folder: false }) = skill.status() {
            let copy = copies.entry(by.clone()).or_insert_with(|| (skill.name().into_owned(), Vec::new()));
            copy.1.push(skill.location());
        }
    }
    let told = |(winner, (name, others)): (PathBuf, (String, Vec<PathBuf>))| json!({"name": name, "winner": winner, "others": others});
    copies.into_iter().map(told).collect()
}
