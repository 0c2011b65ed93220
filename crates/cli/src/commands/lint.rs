//! `prowess lint --routing`: which skills a message can hardly tell apart, and what would help.

use prowess_routing::Advice;
use serde_json::json;

use super::{Outcome, YES, no, toolbox};
use crate::args::{Global, Lint};
use crate::context::Context;
use crate::output::{Output, Tone, clean};
use crate::progress;

pub(super) fn run(context: &Context, global: &Global, call: &Lint, output: &mut Output) -> Outcome {
    // There is one thing to look at so far; it is asked for by name, so that others can come.
    let Lint { routing: _ } = call;
    let toolbox = toolbox(context, global);
    let snapshot = toolbox.snapshot();
    let router = toolbox.router(&snapshot);
    let (names, advice) = progress::during(global, "comparing", |_| router.lint());
    let name = |skill: usize| names.get(skill).map_or("", String::as_str);
    if output.json() {
        let skills: Vec<_> = advice
            .iter()
            .map(|Advice { skill, place, rivals, words }| {
                let rivals: Vec<_> = rivals
                    .iter()
                    .map(|(rival, share)| json!({"name": name(*rival), "share": (f64::from(*share) * 100.0).round() / 100.0}))
                    .collect();
                json!({"name": name(*skill), "place": place.map(|place| place + 1), "rivals": rivals, "words": words})
            })
            .collect();
        output.answer(&json!({"schema": 1, "checked": names.len(), "skills": skills}))?;
    } else {
        for Advice { skill, place, rivals, words } in &advice {
            let title = output.tone(Tone::Strong, name(*skill));
            let found = match place {
                Some(0) => "found first by its own description".to_owned(),
                Some(place) => format!("found at place {} by its own description", place + 1),
                None => "not found by its own description".to_owned(),
            };
            output.line(format!("{title}: {found}"))?;
            if !rivals.is_empty() {
                let rivals: Vec<String> =
                    rivals.iter().map(|(rival, _)| clean(name(*rival)).into_owned()).collect();
                output.line(format!("  answered as well by {}", rivals.join(", ")))?;
            }
            if !words.is_empty() {
                output.line(format!("  words that would tell it apart: {}", clean(&words.join(", "))))?;
            }
        }
        let all = names.len();
        output.line(format!("{all} checked, {} hard to tell apart", advice.len()))?;
    }
    Ok(if advice.is_empty() { YES } else { no() })
}
