//! A prompt over a hundred thousand skills stays within its budget and contains the skill that matches the
//! message.

use crate::support::TestEnv;
use prowess::Preset;
use prowess::policy::CatalogFormat;
use prowess_tools::{PromptRequest, render_prompt, tokens};

const SKILLS: usize = 100_000;

/// The queries and the matching skills, which are neither first in the catalog nor special in form.
const QUERIES: [(&str, &str, &str); 3] = [
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
    for (_, name, about) in QUERIES {
        project.file(&format!("~/.agents/skills/{name}/SKILL.md"), skill_md(name, about));
    }
    let toolbox = project.toolbox();
    assert_eq!(toolbox.snapshot().enabled().count(), SKILLS + QUERIES.len());
    let assert_included = |query: &str, name: &str, about: &str, format: CatalogFormat| {
        let request = PromptRequest { query: Some(query), format: Some(format), ..PromptRequest::default() };
        let prompt = render_prompt(&toolbox, &PromptRequest { budget_chars: Some(4_000), ..request });
        assert_eq!(prompt.routing.unwrap().matches[0].name, name, "{query}");
        assert!(prompt.text.chars().count() <= 4_000, "{format:?}: {}", prompt.text.chars().count());
        assert!(prompt.text.contains(first(about)), "{format:?}: {}", prompt.text);
    };
    for (query, name, about) in QUERIES {
        assert_included(query, name, about, CatalogFormat::Xml);
    }
    let (query, name, about) = QUERIES[1];
    for format in [CatalogFormat::Json, CatalogFormat::Bullets, CatalogFormat::Tiers] {
        assert_included(query, name, about, format);
    }
    let request = PromptRequest { query: Some(query), ..PromptRequest::default() };
    let prompt = render_prompt(&toolbox, &PromptRequest { budget_tokens: Some(1_000), ..request });
    assert!(tokens::count(&prompt.text) <= 1_000, "{}", tokens::count(&prompt.text));
    assert!(prompt.text.contains(first(about)), "{}", prompt.text);
}

/// Returns the first sentence.
fn first(about: &str) -> &str {
    &about[..about.find('.').unwrap()]
}

#[test]
fn a_weak_match_is_shown_before_skills_that_do_not_match() {
    let project = TestEnv::new(Preset::Standard);
    for number in 0..100 {
        let (name, about) = (format!("skill-{number}"), format!("Does the thing of animal{number}."));
        project.file(&format!("~/.agents/skills/{name}/SKILL.md"), skill_md(&name, &about));
    }
    let about = "Converts recipes to metric units. Use when cups and ounces are in the way.";
    project.file("~/.agents/skills/zz-kitchen/SKILL.md", skill_md("zz-kitchen", about));
    let query = "what do i do with the recipe box that my grandmother left on the shelf of her old house";
    let request = PromptRequest { query: Some(query), budget_chars: Some(2_000), ..PromptRequest::default() };
    let prompt = render_prompt(&project.toolbox(), &request);
    let routing = prompt.routing.unwrap();
    assert!(routing.matches[0].name == "zz-kitchen" && !routing.is_confident(), "{:?}", routing.matches);
    assert!(prompt.plan.cuts().count() > 0 && prompt.text.contains(first(about)), "{}", prompt.text);
}
