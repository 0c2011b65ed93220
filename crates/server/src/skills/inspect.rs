//! Previews the input of a model for a message, part by part.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use prowess::ErrorCode;
use prowess::catalog::{DetailLevel, Visibility, visibility};
use prowess_chat::provider::{ConversationEntry, without_dots};
use prowess_chat::store::{ChatHistory, ChatWorkspace};
use prowess_chat::turn::{MESSAGE_MAX, TurnInput, TurnPreview};
use prowess_chat::{Message, Part, Role};
use prowess_tools::{PromptRequest, RenderedPrompt, ToolDefinition, render_prompt, tokens};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::blocking;
use crate::app::App;
use crate::extract::QueryString;
use crate::problem::{ApiResult, Problem};
use crate::reloadable::LoadedState;

/// Selects the message.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct InspectParams {
    /// The text of the message.
    query: Option<String>,
    /// The chat. Without one, the message starts a new chat.
    chat: Option<String>,
    /// The id of a user message in the chat, instead of a query: previews what the model would receive for it now, with the
    /// messages before it.
    message: Option<String>,
}

/// The input of a model.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Inspected)]
pub(crate) struct InspectionResponse {
    schema: u32,
    /// The model, with its provider.
    model: String,
    /// The parts, in the order in which the model receives them.
    parts: Vec<PromptPartJson>,
    /// The estimated total number of tokens.
    tokens: usize,
    /// How much the prompt discloses about skills: 0 nothing, 1 that they exist, 2 names and short descriptions, 3 instructions.
    tier: u8,
    /// The skills, in catalog order; those that are not in the catalog come last.
    skills: Vec<SkillDisclosureJson>,
    #[schema(value_type = Vec<serde_json::Value>)]
    tools: Vec<ToolDefinition>,
}

/// A part of the input.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Piece)]
pub(crate) struct PromptPartJson {
    /// `rules`, `catalog`, `active`, `history`, `message` or `tools`.
    part: &'static str,
    tokens: usize,
    text: String,
}

/// How much the prompt discloses about one skill.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Disclosed)]
pub(crate) struct SkillDisclosureJson {
    name: String,
    /// `full`, `short`, `name` or `no`.
    disclosed: &'static str,
    /// How well the skill matches the message; missing if it does not match.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    reasons: Vec<String>,
    /// An explanation for people.
    why: String,
}

/// Previews the input of the model for a message, part by part. Does not call the model, and stores nothing.
#[utoipa::path(get, path = "/api/inspect", tag = "skills", params(InspectParams),
    responses((status = 200, body = InspectionResponse), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn inspect(
    State(app): State<App>,
    QueryString(params): QueryString<InspectParams>,
) -> ApiResult<Json<InspectionResponse>> {
    let history = match &params.chat {
        Some(chat) => ChatHistory::load(&*app.store, chat).await?,
        None => ChatHistory::default(),
    };
    let (history, text, attached) = select_message(history, &params)?;
    if text.len() > MESSAGE_MAX {
        return Err(Problem::new(
            ErrorCode::TooLarge,
            format!("the message is longer than {MESSAGE_MAX} bytes"),
        ));
    }
    let loaded = app.reloadable.current();
    let chat = params.chat.as_deref().unwrap_or_default();
    let file_limits = loaded.configuration.chat.files;
    let workspace = params.chat.as_ref().map(|chat| ChatWorkspace::open(&app.store, chat, file_limits));
    let input = TurnInput {
        chat,
        history: &history.messages,
        activated: &history.activated,
        text: &text,
        attached: &attached,
        workspace: workspace.as_ref(),
        consent: None,
    };
    let preview = loaded.agent.preview(input).await;
    let preview = preview.map_err(|error| Problem::new(error.code(), error.to_string()))?;
    let work = Arc::clone(&loaded);
    blocking(move || build_inspection(&preview, &work, &text)).await.map(Json)
}

/// Returns the history before the selected message, its text, and the paths of its files.
fn select_message(
    mut history: ChatHistory,
    params: &InspectParams,
) -> ApiResult<(ChatHistory, String, Vec<String>)> {
    let Some(id) = &params.message else {
        return Ok((history, params.query.clone().unwrap_or_default(), vec![]));
    };
    if params.query.is_some() || params.chat.is_none() {
        return Err(Problem::invalid("message requires chat and excludes query"));
    }
    let is_selected = |message: &Message| message.id == *id && message.role == Role::User;
    let index = history
        .messages
        .iter()
        .position(is_selected)
        .ok_or_else(|| Problem::new(ErrorCode::NotFound, "no such user message in this chat"))?;
    let text = history.messages.get(index).map(text_of).unwrap_or_default();
    let attached = history.messages.get(index).map(attached_paths).unwrap_or_default();
    history.messages.truncate(index);
    // Excludes skills that were activated later.
    let was_active = |name: &String| {
        let mut parts = history.messages.iter().flat_map(|message| &message.parts);
        parts.any(
            |part| matches!(part, Part::ToolCall { arguments, .. } if arguments["name"] == name.as_str()),
        )
    };
    let activated = history.activated.iter().filter(|name| was_active(name)).cloned().collect();
    Ok((ChatHistory { activated, ..history }, text, attached))
}

fn attached_paths(message: &Message) -> Vec<String> {
    let paths = message.parts.iter().filter_map(|part| match part {
        Part::File { path, .. } => Some(path.clone()),
        _ => None,
    });
    paths.collect()
}

fn text_of(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

fn build_inspection(preview: &TurnPreview, loaded: &LoadedState, text: &str) -> InspectionResponse {
    let query = (!text.trim().is_empty()).then_some(text);
    let prompt = render_prompt(&loaded.toolbox, &PromptRequest { query, ..Default::default() });
    let mut parts = split_system(&preview.system, &prompt.text);
    let (history, now) = preview.entries.split_at(preview.past.min(preview.entries.len()));
    parts.extend(prompt_part("history", render_entries(history)));
    parts.extend(prompt_part("message", render_entries(now)));
    let tools = serde_json::to_string_pretty(&preview.tools).unwrap_or_default();
    if !preview.tools.is_empty() {
        parts.extend(prompt_part("tools", tools));
    }
    InspectionResponse {
        schema: 1,
        model: loaded.agent.model().name(),
        tokens: parts.iter().map(|part| part.tokens).sum(),
        parts,
        tier: prompt.routing.as_ref().map_or(2, |routing| routing.tier.number()),
        skills: disclosures(&prompt, preview, loaded),
        tools: preview.tools.clone(),
    }
}

fn prompt_part(part: &'static str, text: String) -> Option<PromptPartJson> {
    (!text.trim().is_empty()).then(|| PromptPartJson { part, tokens: tokens::count(&text), text })
}

/// Splits the system prompt into parts. It contains the catalog verbatim, or with tool names without dots.
fn split_system(system: &str, catalog: &str) -> Vec<PromptPartJson> {
    let found =
        split_around(system, catalog.trim()).or_else(|| split_around(system, without_dots(catalog).trim()));
    let Some([rules, catalog, active]) = found else {
        return prompt_part("rules", system.to_owned()).into_iter().collect();
    };
    let parts = [("rules", rules), ("catalog", catalog), ("active", active)];
    parts.into_iter().filter_map(|(part, text)| prompt_part(part, text.to_owned())).collect()
}

/// Returns the text before the catalog, the catalog, and the text after it.
fn split_around<'s>(system: &'s str, catalog: &str) -> Option<[&'s str; 3]> {
    let (first, last) = (catalog.lines().next()?, catalog.lines().last()?);
    let from = system.find(first)?;
    let end = from + system.get(from..)?.rfind(last)? + last.len();
    Some([system.get(..from)?, system.get(from..end)?, system.get(end..)?])
}

/// Returns the conversation as text.
fn render_entries(entries: &[ConversationEntry]) -> String {
    let lines = entries.iter().map(|entry| match entry {
        ConversationEntry::User(text) => format!("user: {text}"),
        ConversationEntry::Assistant { text, calls, .. } => {
            let calls = calls.iter().map(|call| format!("\n[calls {} {}]", call.name, call.arguments));
            format!("assistant: {text}{}", calls.collect::<String>())
        }
        ConversationEntry::Results(results) => {
            let results = results.iter().map(|result| format!("result of {}: {}", result.name, result.text));
            results.collect::<Vec<_>>().join("\n")
        }
    });
    lines.collect::<Vec<_>>().join("\n\n")
}

fn disclosures(
    prompt: &RenderedPrompt,
    preview: &TurnPreview,
    loaded: &LoadedState,
) -> Vec<SkillDisclosureJson> {
    let (policy, snapshot) = (loaded.registry.policy(), loaded.toolbox.snapshot());
    let cuts: HashMap<String, DetailLevel> = prompt.plan.cuts().map(|cut| (cut.name, cut.level)).collect();
    let shown: Vec<&str> = prompt.plan.shown_names().collect();
    let matches = prompt.routing.as_ref().map(|routing| routing.matches.as_slice()).unwrap_or_default();
    let mut skills: Vec<SkillDisclosureJson> = Vec::new();
    skills.extend(snapshot.enabled().map(|skill| {
        let name = String::from(skill.key());
        let matched = matches.iter().find(|candidate| candidate.name == name);
        let (disclosed, explanation) = if preview.activated.contains(&name) {
            ("full", "active: its instructions are in the conversation".to_owned())
        } else if visibility(skill, policy) == Visibility::Manual {
            ("no", "only people can activate it".to_owned())
        } else {
            match (cuts.get(&name), shown.contains(&name.as_str())) {
                (Some(DetailLevel::Short), _) => {
                    ("short", "the description was shortened to fit the budget".to_owned())
                }
                (Some(DetailLevel::NameOnly), _) => ("name", "only the name fits the budget".to_owned()),
                (Some(DetailLevel::Omitted), _) => ("no", "omitted to fit the budget".to_owned()),
                (Some(DetailLevel::Full) | None, true) => {
                    ("short", "the name and description are in the catalog".to_owned())
                }
                (Some(DetailLevel::Full) | None, false) => ("no", "it does not match the message".to_owned()),
            }
        };
        let reasons = matched.map(|matched| matched.reasons.clone()).unwrap_or_default();
        SkillDisclosureJson {
            name,
            disclosed,
            score: matched.map(|matched| matched.score),
            reasons,
            why: explanation,
        }
    }));
    // Catalog order first, then the omitted skills.
    let order: HashMap<&str, usize> =
        shown.iter().zip(0..).map(|(name, position)| (*name, position)).collect();
    skills.sort_by_key(|skill| order.get(skill.name.as_str()).copied().unwrap_or(usize::MAX));
    skills
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalog_is_found_with_and_without_dots_in_tool_names() {
        let catalog = "Load one with skills.activate:\n<skills>\n</skills>";
        for variant in [catalog.to_owned(), without_dots(catalog)] {
            let parts = split_system(&format!("Be kind.\n\n{variant}\n\nActive: a"), catalog);
            let found: Vec<_> = parts.iter().map(|part| (part.part, part.text.trim())).collect();
            assert_eq!(
                found,
                [("rules", "Be kind."), ("catalog", variant.as_str()), ("active", "Active: a")]
            );
        }
        let without = split_system("Be kind.", "");
        assert_eq!(without.len(), 1);
    }
}
