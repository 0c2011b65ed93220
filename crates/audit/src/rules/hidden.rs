//! PA5xx: invisible characters.

use crate::finding::{Family::Hidden, FindingSeverity::*};
use crate::rule::{Matcher::Custom, Rule, RuleScope::*, example};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "PA501",
        family: Hidden,
        severity: Critical,
        title: "invisible characters encode a text",
        reason: "a model reads it, but a person cannot see it",
        help: "check what it says, and do not use the skill",
        scope: Any,
        matcher: Custom,
        example: example("SKILL.md", "Hello\u{e0072}\u{e0075}\u{e006e} there.\n"),
    },
    Rule {
        id: "PA502",
        family: Hidden,
        severity: Medium,
        title: "characters that change the direction of the text",
        reason: "the displayed text differs from the real one",
        help: "remove them, or view the text in an editor that shows them",
        scope: Any,
        matcher: Custom,
        example: example("scripts/a.py", "admin = True  # \u{202e}eslaF\n"),
    },
    Rule {
        id: "PA503",
        family: Hidden,
        severity: Low,
        title: "invisible characters",
        reason: "they are mostly copied by accident, but can also split words to evade a search",
        help: "remove them",
        scope: Any,
        matcher: Custom,
        example: example("SKILL.md", "Hel\u{200b}lo there.\n"),
    },
    Rule {
        id: "PA504",
        family: Hidden,
        severity: Medium,
        title: "terminal escape sequences",
        reason: "a terminal that displays the text executes them",
        help: "remove them; a script can write \\x1b",
        scope: Any,
        matcher: Custom,
        example: example("SKILL.md", "Hello\u{1b}[8m there.\n"),
    },
];
