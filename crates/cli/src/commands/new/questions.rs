//! Asks on the terminal for what the options do not say.

use std::path::PathBuf;

use clap::ValueEnum;

use super::parse_name;
use crate::args::packages::AnswerArgs;
use crate::args::{GlobalArgs, NewArgs, SkillTemplate};
use crate::commands::packages::failure;
use crate::commands::packages::prompts::TerminalPrompter;
use crate::failure::Failure;

/// What is needed to create a skill.
pub(super) struct NewSkill {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) template: SkillTemplate,
    pub(super) dir: Option<PathBuf>,
}

/// Returns the options, completed by answers. Without a terminal, missing options are a usage error.
pub(super) fn complete(args: NewArgs, global: &GlobalArgs) -> Result<NewSkill, Failure> {
    let NewArgs { name, description, template, dir } = args;
    if let (Some(name), Some(description)) = (&name, &description) {
        let (name, description) = (name.clone(), description.clone());
        return Ok(NewSkill { name, description, template: template.unwrap_or_default(), dir });
    }
    let answers = AnswerArgs { yes: false, on_conflict: None, accept_risk: false };
    let prompter = TerminalPrompter::new(&answers, global, &crate::commands::packages::cancellable_task());
    if !prompter.is_terminal() {
        let missing = if name.is_none() { "name" } else { "description" };
        return Err(Failure::usage(format!("no {missing} given, and no terminal to ask for it"))
            .hint("prowess new NAME --description TEXT"));
    }
    let name = match name {
        Some(name) => name,
        None => ask_name(&prompter)?,
    };
    let description = match description {
        Some(description) => description,
        None => ask_text(&prompter, "What does it do, and when should it be used? ")?,
    };
    let template = match template {
        Some(template) => template,
        None => ask_template(&prompter)?,
    };
    Ok(NewSkill { name, description, template, dir })
}

/// Asks until the name is valid.
fn ask_name(prompter: &TerminalPrompter<'_>) -> Result<String, Failure> {
    loop {
        let name = ask_text(prompter, "Name of the skill: ")?;
        match parse_name(&name) {
            Ok(_) => return Ok(name),
            Err(error) => prompter.show(&error.into_message()),
        }
    }
}

fn ask_template(prompter: &TerminalPrompter<'_>) -> Result<SkillTemplate, Failure> {
    for (number, template) in SkillTemplate::value_variants().iter().enumerate() {
        prompter.show(&format!("  {} {:<12} {}", number + 1, template.as_str(), template.about()));
    }
    loop {
        let answer = prompter.ask("Template [1]: ").map_err(failure)?;
        let by_number = answer.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let templates = SkillTemplate::value_variants();
        match (answer.as_str(), by_number.and_then(|index| templates.get(index))) {
            ("", _) => return Ok(SkillTemplate::default()),
            (_, Some(template)) => return Ok(*template),
            (name, None) => match SkillTemplate::from_str(name, true) {
                Ok(template) => return Ok(template),
                Err(_) => prompter.show("answer with a number or a name of the list"),
            },
        }
    }
}

/// Asks until there is an answer.
fn ask_text(prompter: &TerminalPrompter<'_>, question: &str) -> Result<String, Failure> {
    loop {
        let answer = prompter.ask(question).map_err(failure)?;
        if !answer.is_empty() {
            return Ok(answer);
        }
    }
}
