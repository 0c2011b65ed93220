//! The inputs of measuring `prowess hook prompt`: an event with a message, and one more skill that fits it, because the skills
//! of a tree are too similar to each other.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::tree::Tree;

/// The files that the hook reads besides the tree.
pub struct HookInputs {
    /// The event of the client, for standard input.
    pub event: PathBuf,
    /// The directory of the skill that fits.
    pub root: PathBuf,
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
        let (event, root) = (tree.home().join("event.json"), tree.home().join("more-skills"));
        fs::create_dir_all(root.join("tune-piano-n0"))?;
        let skill_md = root.join("tune-piano-n0/SKILL.md");
        // An unchanged file keeps its time, so that the index stays valid.
        if !fs::read_to_string(&skill_md).is_ok_and(|text| text == SKILL) {
            fs::write(&skill_md, SKILL)?;
        }
        fs::write(&event, EVENT)?;
        Ok(Self { event, root })
    }
}
