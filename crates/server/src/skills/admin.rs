//! Details of all skills for administrators: copies, diagnostics and usage.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use prowess::registry::ShadowedBy;
use prowess::{Skill, SkillStatus, Snapshot};
use prowess_chat::store::SkillUse;
use prowess_package::InstallTarget;
use prowess_tools::json::{DiagnosticJson, SkillJson};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::{blocking, schemas};
use crate::app::App;
use crate::guard::Admin;
use crate::problem::{ApiResult, Problem};
use crate::reloadable::LoadedState;

/// Details of all skills.
#[derive(ToSchema)]
#[schema(as = Administered)]
#[allow(dead_code, reason = "used only for the OpenAPI description")]
pub(crate) struct AdminSkillsResponse {
    schema: u32,
    /// All discovered skills, with any status.
    skills: Vec<AdminSkillEntryJson>,
    /// Names that several skills have.
    collisions: Vec<CollisionJson>,
    diagnostics: Vec<schemas::DiagnosticEntryJson>,
}

/// A skill in the list for administrators.
#[derive(ToSchema)]
#[schema(as = AdministeredSkill)]
#[allow(dead_code, reason = "used only for the OpenAPI description")]
pub(crate) struct AdminSkillEntryJson {
    #[serde(flatten)]
    skill: schemas::SkillEntryJson,
    /// How often the skill was used in chats.
    uses: u64,
    /// When the skill was last used, in milliseconds since 1970.
    last_used: Option<u64>,
    warnings: usize,
    errors: usize,
    /// Whether the skill can be edited through this API.
    editable: bool,
    /// Why the skill cannot be edited.
    not_editable_because: Option<String>,
}

/// Several skills with one name.
#[derive(ToSchema)]
#[allow(dead_code, reason = "used only for the OpenAPI description")]
#[schema(as = Collision)]
pub(crate) struct CollisionJson {
    name: String,
    /// The path of the skill that is used.
    winner: String,
    /// The paths of the shadowed skills.
    others: Vec<String>,
}

/// Lists every discovered skill, with usage, diagnostics and collisions.
#[utoipa::path(get, path = "/api/admin/skills", tag = "skills",
    responses((status = 200, body = AdminSkillsResponse), (status = 403, body = Problem)))]
pub(crate) async fn skills(State(app): State<App>, _: Admin) -> ApiResult<Json<Value>> {
    let loaded = app.reloadable.current();
    let snapshot = loaded.skills().await;
    let uses = app.store.skill_uses().await?;
    blocking(move || admin_skills(&snapshot, &loaded, &uses)).await.map(Json)
}

fn admin_skills(snapshot: &Snapshot, loaded: &Arc<LoadedState>, uses: &[SkillUse]) -> Value {
    let uses: HashMap<&str, &SkillUse> = uses.iter().map(|used| (used.name.as_str(), used)).collect();
    let skills: Vec<Value> = snapshot.all().iter().map(|skill| admin_entry(skill, loaded, &uses)).collect();
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

fn admin_entry(skill: &Skill, loaded: &LoadedState, uses: &HashMap<&str, &SkillUse>) -> Value {
    let (policy, host) = (loaded.registry.policy(), loaded.registry.host());
    let key = skill.key();
    // Uses are counted by name, so a shadowed skill must not get those of the skill that shadows it.
    let used = uses.get(key.as_ref()).filter(|_| !matches!(skill.status(), SkillStatus::Shadowed(_)));
    let errors = skill.diagnostics().iter().filter(|diagnostic| diagnostic.is_error()).count();
    let target = InstallTarget::for_editing(skill, policy, host);
    let mut entry = json!(SkillJson::new(skill));
    for (field, value) in [
        ("uses", json!(used.map_or(0, |used| used.count))),
        ("last_used", json!(used.map(|used| used.last))),
        ("warnings", json!(skill.diagnostics().len() - errors)),
        ("errors", json!(errors)),
        ("editable", json!(target.is_ok())),
        ("not_editable_because", json!(target.err().map(|error| error.to_string()))),
    ] {
        entry[field] = value;
    }
    entry
}

/// Returns the shadowed skills, grouped by the skill that shadows them.
fn collisions(snapshot: &Snapshot) -> Vec<Value> {
    let mut collisions: BTreeMap<PathBuf, (String, Vec<PathBuf>)> = BTreeMap::new();
    for skill in snapshot.all() {
        if let SkillStatus::Shadowed(ShadowedBy { path: by, same_dir: false }) = skill.status() {
            let collision =
                collisions.entry(by.clone()).or_insert_with(|| (skill.name().into_owned(), Vec::new()));
            collision.1.push(skill.skill_md_path());
        }
    }
    let to_json = |(winner, (name, others)): (PathBuf, (String, Vec<PathBuf>))| json!({"name": name, "winner": winner, "others": others});
    collisions.into_iter().map(to_json).collect()
}
