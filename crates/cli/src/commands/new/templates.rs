//! The files of new skills.

use prowess::shell::quote;
use prowess_format::SkillName;

use crate::args::SkillTemplate;

/// A file of a new skill.
pub(super) struct TemplateFile {
    /// The path in the skill.
    pub(super) path: &'static str,
    pub(super) text: String,
    pub(super) is_executable: bool,
}

impl TemplateFile {
    fn new(path: &'static str, text: String) -> Self {
        Self { path, text, is_executable: false }
    }
}

/// Returns the files of a template, `SKILL.md` first. `description` is quoted for YAML.
pub(super) fn files(template: SkillTemplate, name: &SkillName, description: &str) -> Vec<TemplateFile> {
    let skill_md = |more: &str, body: &str| {
        let text = format!("---\nname: {name}\ndescription: {description}\n{more}---\n\n# {name}\n\n{body}");
        TemplateFile::new("SKILL.md", text)
    };
    match template {
        SkillTemplate::Instructions => {
            vec![skill_md("", "Describe here, step by step, what the model should do.\n")]
        }
        SkillTemplate::Script => {
            let script = TemplateFile::new("scripts/main.py", SCRIPT.to_owned());
            vec![skill_md("", SCRIPT_BODY), TemplateFile { is_executable: true, ..script }]
        }
        SkillTemplate::Toolset => {
            let export = export_name(name);
            let more = format!("toolsets:\n  - \"toolsets/index:{export}\"\n");
            let module = TOOLSET.replace("EXPORT", &export);
            vec![skill_md(&more, TOOLSET_BODY), TemplateFile::new("toolsets/index.ts", module)]
        }
        SkillTemplate::References => {
            let reference = TemplateFile::new("references/details.md", REFERENCE.to_owned());
            vec![skill_md("", REFERENCES_BODY), reference]
        }
    }
}

impl SkillTemplate {
    /// Returns what to write next.
    pub(super) fn next_step(self) -> &'static str {
        match self {
            Self::Instructions => "write the instructions",
            Self::Script => "write scripts/main.py and the instructions",
            Self::Toolset => "write toolsets/index.ts and the instructions",
            Self::References => "write the instructions, and move details to references",
        }
    }

    /// Returns a command that tries the skill, with a description.
    pub(super) fn try_it(self, name: &SkillName) -> Option<String> {
        let name = quote(name.as_str());
        match self {
            Self::Instructions | Self::References => None,
            Self::Script => Some(format!("to run the script: prowess run {name} scripts/main.py -- World")),
            Self::Toolset => Some(format!("to see the tool: prowess tools --skill {name}")),
        }
    }
}

/// Returns the name of the export, such as `PdfFormsToolset`.
fn export_name(name: &SkillName) -> String {
    let capitalize = |word: &str| {
        let mut chars = word.chars();
        let first = chars.next().map(char::to_uppercase);
        first.into_iter().flatten().chain(chars).collect::<String>()
    };
    let words: String = name.as_str().split('-').map(capitalize).collect();
    // An identifier does not start with a digit.
    let prefix = if words.starts_with(|c: char| c.is_numeric()) { "Skill" } else { "" };
    format!("{prefix}{words}Toolset")
}

const SCRIPT_BODY: &str = "\
Describe here, step by step, what the model should do.

1. Run `scripts/main.py NAME`. It prints the result.
2. Say what to do with the result, and what to do if the script fails.
";

const SCRIPT: &str = "\
#!/usr/bin/env python3
\"\"\"Prints a greeting. Replace it with what the skill needs.\"\"\"

import argparse


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(\"name\", help=\"who is greeted\")
    arguments = parser.parse_args()
    print(f\"Hello, {arguments.name}!\")


if __name__ == \"__main__\":
    main()
";

const TOOLSET_BODY: &str = "\
Describe here, step by step, what the model should do.

Call `greet` with a name. Say what to do with the result.
";

const TOOLSET: &str = "\
import { z } from 'zod';
import { Tool } from '@agent/tools';

// Replace it with what the skill needs.
export const greet = Tool.define('greet', {
  description: 'Returns a greeting.',
  parameters: z.object({ name: z.string().describe('Who is greeted.') }),
  execute: async ({ name }) => ({ title: name, metadata: {}, output: `Hello, ${name}!` }),
});

export const EXPORT = [greet];
";

const REFERENCES_BODY: &str = "\
Describe here, step by step, what the model should do. Keep it short: everything in this file is read whenever the skill is
used.

Read [the details](references/details.md) if a step needs them.
";

const REFERENCE: &str = "\
# Details

Write here what is needed only sometimes: formats, examples, special cases. It is read on demand.
";
