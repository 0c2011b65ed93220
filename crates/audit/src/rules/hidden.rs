//! PA5xx: characters that nobody sees.

use crate::finding::{Family::Hidden, Severity::*};
use crate::rule::{Rule, Scope::*, Test::Own, example};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "PA501",
        family: Hidden,
        severity: Critical,
        title: "invisible characters spell a text",
        why: "a model reads it and a person does not",
        help: "see what it says, and do not use the skill",
        scope: Any,
        test: Own,
        example: example("SKILL.md", "Hello\u{e0072}\u{e0075}\u{e006e} there.\n"),
    },
    Rule {
        id: "PA502",
        family: Hidden,
        severity: Medium,
        title: "characters turn the direction of the text",
        why: "what is shown is not what stands there",
        help: "remove them, or look at the text in an editor that shows them",
        scope: Any,
        test: Own,
        example: example("scripts/a.py", "admin = True  # \u{202e}eslaF\n"),
    },
    Rule {
        id: "PA503",
        family: Hidden,
        severity: Low,
        title: "invisible characters stand in the text",
        why: "mostly they were copied along; they also split words, so that a search does not find them",
        help: "remove them",
        scope: Any,
        test: Own,
        example: example("SKILL.md", "Hel\u{200b}lo there.\n"),
    },
    Rule {
        id: "PA504",
        family: Hidden,
        severity: Medium,
        title: "terminal escapes stand in the text",
        why: "a terminal that shows it obeys them",
        help: "remove them; a script can write \\x1b",
        scope: Any,
        test: Own,
        example: example("SKILL.md", "Hello\u{1b}[8m there.\n"),
    },
];
