//! Every key of the configuration, as one table.

use super::chat::{is_base_url, is_model, is_variable};
use super::field::{Choice, Count, Field, File, Paths, Roots, Sources, Store, Text, Texts};
use super::narrow::{self, Project};
use super::values::{Lens, at};

/// A key of the configuration.
pub struct Key {
    /// Its name: the section, a point, and the key in it.
    pub name: &'static str,
    /// What it decides.
    pub about: &'static str,
    pub(super) field: &'static dyn Field,
    pub(super) project: Project,
}

impl Key {
    /// What it takes, in words: "true or false", "a number from 1 to 255".
    ///
    /// ```
    /// let key = prowess_config::key("mention.slash").unwrap();
    /// assert_eq!(key.takes(), "true or false");
    /// ```
    pub fn takes(&self) -> String {
        self.field.takes()
    }

    /// Who may set it, in words.
    pub fn who(&self) -> &'static str {
        match self.project {
            Project::May => "anyone",
            Project::MayNot => "the user",
            Project::Narrow | Project::Within(_) => "the user; a project to narrow it",
        }
    }
}

/// The key of this name.
pub fn key(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

const MEBIBYTE: u64 = 1_048_576;

/// How a bound says that there is none.
const NONE: &[&str] = &["none", "unbounded"];

macro_rules! keys {
    ($($name:literal $about:literal $field:expr, $project:expr;)+) => {
        /// Every key, in the order that people read them.
        pub static KEYS: &[Key] =
            &[$(Key { name: $name, about: $about, field: &$field, project: $project }),+];
    };
}

use Project::{May, MayNot, Narrow, Within};

keys! {
    "preset" "the named set of values that everything else starts from"
        Choice { at: at!(policy.preset) }, MayNot;
    "enabled" "whether there are skills at all"
        Choice { at: at!(policy.enabled) }, Narrow;

    "scan.roots" "where skills are looked for, the directory that wins first"
        Roots { at: at!(policy.scan.roots) }, Within(narrow::roots);
    "scan.ancestors" "whether project directories are looked for further up, too"
        Choice { at: at!(policy.scan.ancestors) }, Narrow;
    "scan.depth" "how deep below a root skills may lie; its immediate children are at depth 1"
        Count { at: at!(policy.scan.depth), range: 1..=255, none: &["unbounded", "none"] }, Narrow;
    "scan.max-directories" "the most directories that are visited"
        Count { at: at!(policy.scan.max_directories), range: 1..=10_000_000, none: &[] }, Narrow;
    "scan.max-entries" "the most directory entries that are read"
        Count { at: at!(policy.scan.max_entries), range: 1..=100_000_000, none: &[] }, Narrow;
    "scan.max-skills" "the most skills that are offered"
        Count { at: at!(policy.scan.max_skills), range: 0..=10_000_000, none: NONE }, Narrow;
    "scan.links" "where links may lead besides the roots and trusted folders"
        Paths { at: at!(policy.scan.links) }, MayNot;
    "scan.identity" "what makes two skills the same: the folder's name or the frontmatter's"
        Choice { at: at!(policy.scan.identity) }, May;
    "scan.twice" "which of two in the same root wins, in the order of their paths"
        Choice { at: at!(policy.scan.twice) }, May;
    "scan.requires" "whether commands that skills require are looked up: also those of metadata.requires (checked), or only those of metadata.prowess-requires (own)"
        Choice { at: at!(policy.scan.requires) }, Narrow;

    "manifest.name" "which names are well formed"
        Choice { at: at!(policy.manifest.name) }, Within(narrow::name_rule);
    "manifest.name-form" "what a name that is not well formed means"
        Choice { at: at!(policy.manifest.name_form) }, Narrow;
    "manifest.name-max" "the longest name, in characters"
        Count { at: at!(policy.manifest.name_max), range: 1..=1_024, none: NONE }, Narrow;
    "manifest.name-folder" "what a name that is not the folder's means"
        Choice { at: at!(policy.manifest.name_folder) }, Narrow;
    "manifest.description-max" "the longest description, in characters"
        Count { at: at!(policy.manifest.description_max), range: 1..=65_536, none: NONE }, Narrow;
    "manifest.description-long" "what a longer description means"
        Choice { at: at!(policy.manifest.description_long) }, Narrow;
    "manifest.field-form" "what a compatibility or metadata of the wrong form means"
        Choice { at: at!(policy.manifest.field_form) }, Narrow;
    "manifest.known-keys" "which frontmatter keys are known"
        Choice { at: at!(policy.manifest.known_keys) }, Narrow;
    "manifest.unknown-keys" "what an unknown key means"
        Choice { at: at!(policy.manifest.unknown_keys) }, Narrow;
    "manifest.duplicate-keys" "what a key written twice means"
        Choice { at: at!(policy.manifest.duplicate_keys) }, Narrow;
    "manifest.preamble" "what text before the frontmatter means"
        Choice { at: at!(policy.manifest.preamble) }, Narrow;
    "manifest.lowercase-file" "what a file named skill.md means"
        Choice { at: at!(policy.manifest.lowercase_file) }, Narrow;
    "manifest.repair" "whether quotes that people forget are added for them"
        Choice { at: at!(policy.manifest.repair) }, Narrow;

    "trust.project" "whether project skills need the user's trust"
        Choice { at: at!(policy.trust) }, Narrow;

    "skills.disabled" "names or ids that are off, and whole sources, as source:PATH"
        Texts { at: at!(policy.selection.disabled) }, Within(narrow::disabled);
    "skills.enabled" "names or ids that are on although they are off by default"
        Texts { at: at!(policy.selection.enabled) }, Within(narrow::enabled);
    "skills.disabled-bundled" "bundled skills that are off"
        Texts { at: at!(policy.selection.disabled_bundled) }, Within(narrow::disabled_bundled);
    "skills.enabled-bundled" "if not empty, the only bundled skills that are on"
        Texts { at: at!(policy.selection.enabled_bundled) }, Within(narrow::enabled_bundled);
    "skills.pinned" "skills whose entry in the catalog is the last to be shortened"
        Texts { at: at!(policy.selection.pinned) }, MayNot;
    "skills.name-only" "skills that the model is told by name only"
        Texts { at: at!(policy.selection.name_only) }, Within(narrow::name_only);
    "skills.manual" "skills that people can call and the model is not told of"
        Texts { at: at!(policy.selection.manual) }, Within(narrow::manual);

    "limits.skill-md-bytes" "how much of a SKILL.md is handed out, in bytes"
        Count { at: at!(policy.limits.skill_md_bytes), range: 1..=16 * MEBIBYTE, none: &[] }, Narrow;
    "limits.resource-bytes" "how much of any other file is handed out, in bytes"
        Count { at: at!(policy.limits.resource_bytes), range: 1..=16 * MEBIBYTE, none: &[] }, Narrow;
    "limits.read-extensions" "the endings of files that the tool ReadFile reads"
        Texts { at: at!(policy.read_extensions) }, MayNot;

    "catalog.format" "the form in which the model is told of skills"
        Choice { at: at!(policy.catalog.format) }, May;
    "catalog.location" "whether each entry says where its file is"
        Choice { at: at!(policy.catalog.location) }, Narrow;
    "catalog.budget-chars" "the most characters of the catalog"
        Count { at: at!(policy.catalog.budget_chars), range: 0..=100_000_000, none: NONE }, Narrow;
    "catalog.budget-tokens" "the most tokens of the catalog"
        Count { at: at!(policy.catalog.budget_tokens), range: 0..=100_000_000, none: NONE }, Narrow;
    "catalog.window-tokens" "the model's context window in tokens; where it is set, a share of it is the bound"
        Count { at: at!(policy.catalog.window_tokens), range: 1..=100_000_000, none: NONE }, Narrow;
    "catalog.window-percent" "how much of the context window the catalog may take, in percent"
        Count { at: at!(policy.catalog.window_percent), range: 0..=100, none: &[] }, Narrow;

    "activation.form" "what activation gives the model, and through which tool"
        Choice { at: at!(policy.activation) }, MayNot;
    "activation.max-pushed" "how many skills are pushed at once, where the form is pushed"
        Count { at: at!(max_pushed), range: 0..=100, none: &[] }, Narrow;

    "mention.slash" "whether /name at the start of a message calls a skill"
        Choice { at: at!(policy.mention.slash) }, Narrow;
    "mention.dollar" "whether $name anywhere calls a skill"
        Choice { at: at!(policy.mention.dollar) }, Narrow;

    "refresh" "when changes on disk are noticed"
        Choice { at: at!(policy.refresh) }, May;

    "sources.mcp" "servers that skills are taken from, over the Model Context Protocol"
        Sources { at: at!(mcp_sources) }, MayNot;

    "run.scripts" "whether scripts of skills run; \"ask\" runs those of the skills that are named, and others once the user says so"
        Choice { at: at!(policy.run.scripts) }, Narrow;
    "run.allowed-tools" "what allowed-tools of a skill means for its scripts: a listed tool has to cover each (required), or nothing (advisory)"
        Choice { at: at!(policy.run.allowed_tools) }, Narrow;
    "run.allowed-skills" "skills whose scripts run without asking: names, or folders for skills of projects"
        Texts { at: at!(policy.run.allowed_skills) }, Within(narrow::allowed_skills);
    "run.network" "skills whose scripts reach the network: names, or folders for skills of projects"
        Texts { at: at!(policy.run.network) }, Within(narrow::network);
    "run.env" "variables for the skills that name them in metadata.env: NAME for all of these, SKILL:NAME for one"
        Texts { at: at!(policy.run.env) }, Within(narrow::env);
    "run.script-timeout-ms" "how long a script may run, in milliseconds"
        Count { at: at!(policy.run.limits.time), range: 1..=3_600_000, none: &[] }, Narrow;
    "run.output-bytes" "the most output of a script, both streams together, in bytes"
        Count { at: at!(policy.run.limits.output_bytes), range: 1..=64 * MEBIBYTE, none: &[] }, Narrow;
    "run.memory-bytes" "the most memory of a script, in bytes"
        Count { at: at!(policy.run.limits.memory_bytes), range: 1..=1_048_576 * MEBIBYTE, none: &[] }, Narrow;
    "run.processes" "the most processes of a script"
        Count { at: at!(policy.run.limits.processes), range: 1..=4_096, none: &[] }, Narrow;
    "run.file-bytes" "the largest file that a script may write, in bytes"
        Count { at: at!(policy.run.limits.file_bytes), range: 1..=1_048_576 * MEBIBYTE, none: &[] }, Narrow;
    "run.open-files" "the most open files of each process of a script"
        Count { at: at!(policy.run.limits.open_files), range: 1..=65_536, none: &[] }, Narrow;
    "run.scratch-bytes" "the most that all files may take that a script writes, in bytes"
        Count { at: at!(policy.run.limits.scratch_bytes), range: 1..=1_048_576 * MEBIBYTE, none: &[] }, Narrow;
    "run.arguments" "the most arguments that a script is passed"
        Count { at: at!(policy.run.limits.arguments), range: 0..=4_096, none: &[] }, Narrow;
    "run.argument-bytes" "the most bytes of all arguments of a script"
        Count { at: at!(policy.run.limits.argument_bytes), range: 0..=131_072, none: &[] }, Narrow;

    "chat.provider" "whose interface the model of chats is behind"
        Choice { at: at!(chat.provider) }, MayNot;
    "chat.model" "the model, as the provider calls it"
        Text { at: at!(chat.model), what: "the name of a model", is: is_model }, MayNot;
    "chat.base-url" "where the provider is, if not at its usual place"
        Text { at: at!(chat.base_url), what: "an address without user, query and fragment", is: is_base_url }, MayNot;
    "chat.allow-http" "whether a provider on another machine may be talked to without encryption"
        Choice { at: at!(chat.allow_http) }, MayNot;
    "chat.key-env" "the variable that holds the provider's key"
        Text { at: at!(chat.key_env), what: "the name of a variable", is: is_variable }, MayNot;
    "chat.key-file" "the file that holds the provider's key; it is yours and only you can read it"
        File { at: at!(chat.key_file) }, MayNot;
    "chat.tools" "whether the model is offered tools"
        Choice { at: at!(chat.tools) }, Narrow;
    "chat.max-steps" "the most requests to the model in one turn"
        Count { at: at!(chat.limits.steps), range: 1..=1_000, none: &[] }, Narrow;
    "chat.max-output-tokens" "the most tokens of one answer of the model"
        Count { at: at!(chat.limits.output_tokens), range: 1..=1_000_000, none: &[] }, Narrow;
    "chat.context-tokens" "how many tokens the model takes in all; above that, what is oldest is left out"
        Count { at: at!(chat.limits.context_tokens), range: 1_000..=100_000_000, none: &[] }, Narrow;
    "chat.max-turn-tokens" "the most tokens of all requests and answers of one turn"
        Count { at: at!(chat.limits.turn_tokens), range: 1_000..=1_000_000_000, none: NONE }, Narrow;
    "chat.max-result-bytes" "how much of one tool's result the model is shown, in bytes"
        Count { at: at!(chat.limits.result_bytes), range: 1_000..=16 * MEBIBYTE, none: &[] }, Narrow;
    "chat.retries" "how often a request is sent again when the provider is busy or out of order"
        Count { at: at!(chat.limits.retries), range: 0..=20, none: &[] }, Narrow;
    "chat.connect-timeout-ms" "how long a connection to the provider may take, in milliseconds"
        Count { at: at!(chat.timeouts.connect), range: 1..=3_600_000, none: &[] }, Narrow;
    "chat.first-byte-timeout-ms" "how long the first byte of an answer may take, in milliseconds"
        Count { at: at!(chat.timeouts.first_byte), range: 1..=3_600_000, none: &[] }, Narrow;
    "chat.idle-timeout-ms" "how long nothing may come in the middle of an answer, in milliseconds"
        Count { at: at!(chat.timeouts.idle), range: 1..=3_600_000, none: &[] }, Narrow;
    "chat.request-timeout-ms" "how long one request may take in all, in milliseconds"
        Count { at: at!(chat.timeouts.request), range: 1..=86_400_000, none: &[] }, Narrow;
    "chat.store" "where chats are kept, if not in the user's state; a password in it is not printed"
        Store { at: at!(chat.store) }, MayNot;

    "embeddings.provider" "who says how close a message and a skill are in meaning, beside words"
        Choice { at: at!(embeddings.provider) }, MayNot;
    "embeddings.model" "the model of embeddings, as the provider calls it"
        Text { at: at!(embeddings.model), what: "the name of a model", is: is_model }, MayNot;
    "embeddings.base-url" "where the provider of embeddings is, if not at its usual place"
        Text { at: at!(embeddings.base_url), what: "an address without user, query and fragment", is: is_base_url }, MayNot;
    "embeddings.allow-http" "whether that provider may be talked to without encryption on another machine"
        Choice { at: at!(embeddings.allow_http) }, MayNot;
    "embeddings.key-env" "the variable that holds that provider's key"
        Text { at: at!(embeddings.key_env), what: "the name of a variable", is: is_variable }, MayNot;
    "embeddings.weight" "how much meaning counts beside words, in percent of what is usual"
        Count { at: at!(embeddings.weight), range: 0..=10_000, none: &[] }, MayNot;
    "embeddings.timeout-ms" "how long a message waits for its vector, in milliseconds; after that, words decide alone"
        Count { at: at!(embeddings.timeout), range: 1..=60_000, none: &[] }, MayNot;
}
