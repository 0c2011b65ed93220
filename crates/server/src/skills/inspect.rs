//! What a model would be given for a message in a chat, part by part, or for one that was said before.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use prowess::ErrorCode;
use prowess::disclose::{Level, Visibility, visibility};
use prowess_chat::provider::{Entry, without_dots};
use prowess_chat::store::Past;
use prowess_chat::turn::{Input, MESSAGE_MAX, Preview};
use prowess_chat::{Message, Part, Role};
use prowess_tools::{Prompt, PromptRequest, ToolDefinition, key, prompt, tokens};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::blocking;
use crate::app::App;
use crate::asked::Query;
use crate::live::Loaded;
use crate::problem::{Answer, Problem};

/// For which message.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(crate) struct For {
    /// What the person would say.
    query: Option<String>,
    /// In which chat; without one, at the beginning of a new one.
    chat: Option<String>,
    /// A message of the person's in that chat, instead of a query: what the model would be given for it now, with what was
    /// said before it.
    message: Option<String>,
}

/// What a model would be given.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Inspected {
    schema: u32,
    /// The model, with its provider.
    model: String,
    /// In the order in which the model is given them.
    parts: Vec<Piece>,
    /// All of them, as far as can be told without asking the model.
    tokens: usize,
    /// How much is told of skills: 0 nothing, 1 that there are some, 2 names and brief descriptions, 3 instructions.
    tier: u8,
    /// In the order of the catalog; those that it does not have come last.
    skills: Vec<Disclosed>,
    #[schema(value_type = Vec<serde_json::Value>)]
    tools: Vec<ToolDefinition>,
}

/// A part of it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Piece {
    /// `rules`, `catalog`, `active`, `history`, `message` or `tools`.
    part: &'static str,
    tokens: usize,
    text: String,
}

/// What is told of one skill.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Disclosed {
    name: String,
    /// `full`, `short`, `name` or `no`.
    disclosed: &'static str,
    /// How well it answers the message; left out where it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    reasons: Vec<String>,
    /// In words.
    why: String,
}

/// What a model would be given for a message, part by part. Nobody is asked, nothing is kept.
#[utoipa::path(get, path = "/api/inspect", tag = "skills", params(For),
    responses((status = 200, body = Inspected), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn inspect(State(app): State<App>, Query(wanted): Query<For>) -> Answer<Json<Inspected>> {
    let past = match &wanted.chat {
        Some(chat) => Past::of(&*app.store, chat).await?,
        None => Past::default(),
    };
    let (past, text) = asked(past, &wanted)?;
    if text.len() > MESSAGE_MAX {
        return Err(Problem::new(
            ErrorCode::TooLarge,
            format!("the message has more than {MESSAGE_MAX} bytes"),
        ));
    }
    let loaded = app.live.now();
    let chat = wanted.chat.as_deref().unwrap_or_default();
    let input = Input { chat, history: &past.messages, activated: &past.activated, text: &text };
    let preview = loaded.agent.preview(input).await;
    let preview = preview.map_err(|error| Problem::new(error.code(), error.to_string()))?;
    let work = Arc::clone(&loaded);
    blocking(move || told(&preview, &work, &text)).await.map(Json)
}

/// What came before, and the message.
fn asked(mut past: Past, wanted: &For) -> Answer<(Past, String)> {
    let Some(id) = &wanted.message else {
        return Ok((past, wanted.query.clone().unwrap_or_default()));
    };
    if wanted.query.is_some() || wanted.chat.is_none() {
        return Err(Problem::invalid("a message is one of a chat: chat and message, without query"));
    }
    let said = |message: &Message| message.id == *id && message.role == Role::User;
    let at = past.messages.iter().position(said).ok_or_else(|| {
        Problem::new(ErrorCode::NotFound, "there is no such message of a person in this chat")
    })?;
    let text = past.messages.get(at).map(text_of).unwrap_or_default();
    past.messages.truncate(at);
    // Skills that were activated later were not active then.
    let loaded = |name: &String| {
        let mut parts = past.messages.iter().flat_map(|message| &message.parts);
        parts.any(
            |part| matches!(part, Part::ToolCall { arguments, .. } if arguments["name"] == name.as_str()),
        )
    };
    let activated = past.activated.iter().filter(|name| loaded(name)).cloned().collect();
    Ok((Past { activated, ..past }, text))
}

fn text_of(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

fn told(preview: &Preview, loaded: &Loaded, text: &str) -> Inspected {
    let query = (!text.trim().is_empty()).then_some(text);
    let made = prompt(&loaded.toolbox, &PromptRequest { query, ..Default::default() });
    let mut parts = system(&preview.system, &made.text);
    let (past, now) = preview.entries.split_at(preview.past.min(preview.entries.len()));
    parts.extend(piece("history", entries(past)));
    parts.extend(piece("message", entries(now)));
    let tools = serde_json::to_string_pretty(&preview.tools).unwrap_or_default();
    if !preview.tools.is_empty() {
        parts.extend(piece("tools", tools));
    }
    Inspected {
        schema: 1,
        model: loaded.agent.model().name(),
        tokens: parts.iter().map(|part| part.tokens).sum(),
        parts,
        tier: made.routing.as_ref().map_or(2, |routing| routing.tier.number()),
        skills: disclosed(&made, preview, loaded),
        tools: preview.tools.clone(),
    }
}

fn piece(part: &'static str, text: String) -> Option<Piece> {
    (!text.trim().is_empty()).then(|| Piece { part, tokens: tokens::count(&text), text })
}

/// The system prompt in its parts: the catalog stands in it as it is, or without dots in the names of tools.
fn system(system: &str, catalog: &str) -> Vec<Piece> {
    let found = around(system, catalog.trim()).or_else(|| around(system, without_dots(catalog).trim()));
    let Some([rules, catalog, active]) = found else {
        return piece("rules", system.to_owned()).into_iter().collect();
    };
    let parts = [("rules", rules), ("catalog", catalog), ("active", active)];
    parts.into_iter().filter_map(|(part, text)| piece(part, text.to_owned())).collect()
}

/// What stands before the catalog, the catalog, and what stands after it.
fn around<'s>(system: &'s str, catalog: &str) -> Option<[&'s str; 3]> {
    let (first, last) = (catalog.lines().next()?, catalog.lines().last()?);
    let from = system.find(first)?;
    let to = from + system.get(from..)?.rfind(last)? + last.len();
    Some([system.get(..from)?, system.get(from..to)?, system.get(to..)?])
}

/// What was said, as text.
fn entries(entries: &[Entry]) -> String {
    let told = entries.iter().map(|entry| match entry {
        Entry::User(text) => format!("user: {text}"),
        Entry::Assistant { text, calls } => {
            let calls = calls.iter().map(|call| format!("\n[calls {} {}]", call.name, call.arguments));
            format!("assistant: {text}{}", calls.collect::<String>())
        }
        Entry::Results(results) => {
            let results = results.iter().map(|result| format!("result of {}: {}", result.name, result.text));
            results.collect::<Vec<_>>().join("\n")
        }
    });
    told.collect::<Vec<_>>().join("\n\n")
}

fn disclosed(made: &Prompt, preview: &Preview, loaded: &Loaded) -> Vec<Disclosed> {
    let (policy, snapshot) = (loaded.registry.policy(), loaded.toolbox.snapshot());
    let cuts: HashMap<String, Level> = made.plan.cuts().map(|cut| (cut.name, cut.level)).collect();
    let told: Vec<&str> = made.plan.told().collect();
    let matches = made.routing.as_ref().map(|routing| routing.matches.as_slice()).unwrap_or_default();
    let mut skills: Vec<Disclosed> = Vec::new();
    skills.extend(snapshot.enabled().map(|skill| {
        let name = key(skill, policy).into_owned();
        let answer = matches.iter().find(|found| found.name == name);
        let (disclosed, why) = if preview.activated.contains(&name) {
            ("full", "it is active: its instructions are in the conversation".to_owned())
        } else if visibility(skill, policy) == Visibility::Manual {
            ("no", "only people call it".to_owned())
        } else {
            match (cuts.get(&name), told.contains(&name.as_str())) {
                (Some(Level::Short), _) => {
                    ("short", "its description was shortened to fit the budget".to_owned())
                }
                (Some(Level::Name), _) => ("name", "only its name fits the budget".to_owned()),
                (Some(Level::Omitted), _) => ("no", "it was left out to fit the budget".to_owned()),
                (Some(Level::Full) | None, true) => {
                    ("short", "name and description are in the catalog".to_owned())
                }
                (Some(Level::Full) | None, false) => ("no", "the message does not ask for it".to_owned()),
            }
        };
        let reasons = answer.map(|found| found.reasons.clone()).unwrap_or_default();
        Disclosed { name, disclosed, score: answer.map(|found| found.score), reasons, why }
    }));
    // As the catalog has them; then what it leaves out.
    let order: HashMap<&str, usize> = told.iter().zip(0..).map(|(name, at)| (*name, at)).collect();
    skills.sort_by_key(|skill| order.get(skill.name.as_str()).copied().unwrap_or(usize::MAX));
    skills
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalog_is_found_with_and_without_dots_in_the_names_of_tools() {
        let catalog = "Load one with skills.activate:\n<skills>\n</skills>";
        for said in [catalog.to_owned(), without_dots(catalog)] {
            let parts = system(&format!("Be kind.\n\n{said}\n\nActive: a"), catalog);
            let told: Vec<_> = parts.iter().map(|piece| (piece.part, piece.text.trim())).collect();
            assert_eq!(told, [("rules", "Be kind."), ("catalog", said.as_str()), ("active", "Active: a")]);
        }
        let without = system("Be kind.", "");
        assert_eq!(without.len(), 1);
    }
}
