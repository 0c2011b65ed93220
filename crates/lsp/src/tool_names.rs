//! Names of tools for `allowed-tools`.

/// The tools that agents commonly offer, and what they do.
pub(crate) const TOOLS: [(&str, &str); 14] = [
    ("Bash", "runs shell commands; Bash(git:*) allows only those that start with git"),
    ("Edit", "replaces text in files"),
    ("Glob", "finds files by name"),
    ("Grep", "searches the contents of files"),
    ("LS", "lists directories"),
    ("MultiEdit", "makes several replacements in a file"),
    ("NotebookEdit", "edits notebooks"),
    ("Read", "reads files"),
    ("Skill", "loads another skill"),
    ("Task", "starts another agent"),
    ("TodoWrite", "keeps a list of tasks"),
    ("WebFetch", "reads web pages"),
    ("WebSearch", "searches the web"),
    ("Write", "creates and overwrites files"),
];

/// Returns what a tool does.
pub(crate) fn describe_tool(name: &str) -> Option<&'static str> {
    TOOLS.iter().find(|(tool, _)| *tool == name).map(|(_, purpose)| *purpose)
}
