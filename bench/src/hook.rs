//! The inputs of measuring `prowess hook prompt`, called as clients call it: an event with a message, and a home directory with the
//! skills of a tree and one more that fits the message, because the skills of a tree are too similar to each other.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::tree::Tree;

/// The files that the hook reads.
pub struct HookInputs {
    /// The event of the client, for standard input.
    pub event: PathBuf,
    /// The home directory.
    pub home: PathBuf,
}

const SKILL: &str = "\
---
name: tune-piano-n0
description: Tunes a piano by ear or with a strobe tuner, string by string. Use when the user wants to tune a piano.
---

Loosen the strings, then tune the temperament octave.
";

const EVENT: &str = "{\"session_id\":\"s\",\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":\"How do I tune my old piano with a strobe tuner?\"}";

impl HookInputs {
    /// Creates the files next to a tree.
    pub fn create(tree: &Tree) -> io::Result<Self> {
        let home = tree.project("hook", ".agents/skills")?;
        let event = home.join("event.json");
        let skill_md = home.join(".claude/skills/tune-piano-n0/SKILL.md");
        // An unchanged file keeps its time, so that the index stays valid.
        if !fs::read_to_string(&skill_md).is_ok_and(|text| text == SKILL) {
            fs::create_dir_all(skill_md.parent().unwrap_or(&home))?;
            fs::write(&skill_md, SKILL)?;
        }
        fs::write(&event, EVENT)?;
        Ok(Self { event, home })
    }
}
