//! A prompt over a hundred thousand skills stays within its budget and contains the skill that matches the
//! message.

use crate::support::TestEnv;
use prowess::Preset;
use prowess::policy::CatalogFormat;
use prowess_tools::{PromptRequest, render_prompt, tokens};

const SKILLS: usize = 100_000;

/// The queries and the matching skills, which are neither first in the catalog nor special in form.
const ASKED: [(&str, &str, &str); 3] = [
    (
        "how many grams are three cups of flour in this recipe?",
        "zz-kitchen",
        "Converts recipes to metric units. Use when cups and ounces are in the way.",
    ),
    (
        "when is high tide in the harbour tomorrow morning?",
        "skill-50000-tides",
        "Tells when the tide is high and low in a harbour.",
    ),
    ("请帮我下载文章", "zz-reader", "Downloads articles of newspapers to read them later."),
];

fn skill_md(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\nDo it well.\n")
}

#[test]
fn the_matching_skill_is_in_every_format_and_budget() {
    let project = TestEnv::large(Preset::Standard);
    for number in 0..SKILLS {
        let about = format!("Does the thing of animal{} in colour{}.", number % 17, number % 1300);
        let name = format!("skill-{number}");
        project.file(&format!("~/.agents/skills/{name}/SKILL.md"), skill_md(&name, &about));
    }
    for (_, name, about) in ASKED {
        project.file(&format!("~/.agents/skills/{name}/SKILL.md"), skill_md(name, about));
    }
    let toolbox = project.toolbox();
    assert_eq!(toolbox.snapshot().enabled().count(), SKILLS + ASKED.len());
    let holds = |query: &str, name: &str, about: &str, format: CatalogFormat| {
        let asked = PromptRequest { query: Some(query), format: Some(format), ..PromptRequest::default() };
        let made = render_prompt(&toolbox, &PromptRequest { budget_chars: Some(4_000), ..asked });
        assert_eq!(made.routing.unwrap().matches[0].name, name, "{query}");
        assert!(made.text.chars().count() <= 4_000, "{format:?}: {}", made.text.chars().count());
        assert!(made.text.contains(first(about)), "{format:?}: {}", made.text);
    };
    for (query, name, about) in ASKED {
        holds(query, name, about, CatalogFormat::Xml);
    }
    let (query, name, about) = ASKED[1];
    for format in [CatalogFormat::Json, CatalogFormat::Bullets, CatalogFormat::Tiers] {
        holds(query, name, about, format);
    }
    let asked = PromptRequest { query: Some(query), ..PromptRequest::default() };
    let made = render_prompt(&toolbox, &PromptRequest { budget_tokens: Some(1_000), ..asked });
    assert!(tokens::count(&made.text) <= 1_000, "{}", tokens::count(&made.text));
    assert!(made.text.contains(first(about)), "{}", made.text);
}

/// Returns the first sentence.
fn first(about: &str) -> &str {
    &about[..about.find('.').unwrap()]
}
