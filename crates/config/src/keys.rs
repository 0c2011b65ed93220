//! All keys of the configuration, as one table.

use super::chat::{ChatFileLimits, is_base_url, is_index_url, is_model_name, is_variable_name};
use super::field::{
    BodyField, ChatStoreField, ChoiceField, HeadersField, IgnoredCodesField, KeyField, McpSourcesField,
    ModelsField, NumberField, PathField, PathListField, RootListField, TemperatureField, TextField,
    TextListField, ThinkingField, UrlListField,
};
use super::narrow::{self, ProjectRule};
use super::values::{ValueLens, lens};

/// A key of the configuration.
pub struct ConfigKey {
    /// Its name: the section, a dot, and the key in it.
    pub name: &'static str,
    /// What it controls.
    pub about: &'static str,
    pub(super) field: &'static dyn KeyField,
    pub(super) project: ProjectRule,
}

impl ConfigKey {
    /// Returns the accepted values as text: "true or false", "a number from 1 to 255".
    ///
    /// ```
    /// let key = prowess_config::find_key("mention.slash").unwrap();
    /// assert_eq!(key.expected(), "true or false");
    /// ```
    pub fn expected(&self) -> String {
        self.field.expected()
    }

    /// Returns who may set it, as text.
    pub fn settable_by(&self) -> &'static str {
        match self.project {
            ProjectRule::May => "anyone",
            ProjectRule::MayNot => "the user",
            ProjectRule::Narrow | ProjectRule::Within(_) => "the user; a project to narrow it",
        }
    }
}

/// Returns the key of this name.
pub fn find_key(name: &str) -> Option<&'static ConfigKey> {
    KEYS.iter().find(|key| key.name == name)
}

const MEBIBYTE: u64 = 1_048_576;

/// The words for no limit.
const NONE: &[&str] = &["none", "unbounded"];

macro_rules! keys {
    ($($name:literal $about:literal $field:expr, $project:expr;)+) => {
        /// All keys, in the order of the documentation.
        pub static KEYS: &[ConfigKey] =
            &[$(ConfigKey { name: $name, about: $about, field: &$field, project: $project }),+];
    };
}

use ProjectRule::{May, MayNot, Narrow, Within};

keys! {
    "preset" "the preset that provides all default values"
        ChoiceField { lens: lens!(policy.preset) }, MayNot;
    "enabled" "whether skills are enabled at all"
        ChoiceField { lens: lens!(policy.enabled) }, Narrow;

    "scan.roots" "the directories that are searched for skills, in order of precedence"
        RootListField { lens: lens!(policy.scan.roots) }, Within(narrow::check_roots);
    "scan.ancestors" "whether project directories are also searched in parent directories"
        ChoiceField { lens: lens!(policy.scan.ancestors) }, Narrow;
    "scan.depth" "the maximum depth of skills below a root; its direct children have depth 1"
        NumberField { lens: lens!(policy.scan.depth), range: 1..=255, none: &["unbounded", "none"] }, Narrow;
    "scan.max-directories" "the maximum number of directories that are visited"
        NumberField { lens: lens!(policy.scan.max_directories), range: 1..=10_000_000, none: &[] }, Narrow;
    "scan.max-entries" "the maximum number of directory entries that are read"
        NumberField { lens: lens!(policy.scan.max_entries), range: 1..=100_000_000, none: &[] }, Narrow;
    "scan.max-skills" "the maximum number of skills that are offered"
        NumberField { lens: lens!(policy.scan.max_skills), range: 0..=10_000_000, none: NONE }, Narrow;
    "scan.links" "directories that symlinks may point to, besides the roots and trusted directories"
        PathListField { lens: lens!(policy.scan.links) }, MayNot;
    "scan.identity" "what identifies a skill: the directory name or the name in the frontmatter"
        ChoiceField { lens: lens!(policy.scan.identity) }, May;
    "scan.twice" "which of several skills of the same name in one root is used, by path"
        ChoiceField { lens: lens!(policy.scan.duplicates) }, May;
    "scan.requires" "which required commands are checked: metadata.prowess-requires and metadata.openclaw.requires (own), also metadata.requires (checked), or none (ignored)"
        ChoiceField { lens: lens!(policy.scan.requires) }, Narrow;

    "manifest.name" "which names are valid"
        ChoiceField { lens: lens!(policy.manifest.name) }, Within(narrow::check_name_rule);
    "manifest.name-form" "how to handle an invalid name"
        ChoiceField { lens: lens!(policy.manifest.name_form) }, Narrow;
    "manifest.name-max" "the maximum length of a name, in characters"
        NumberField { lens: lens!(policy.manifest.name_max), range: 1..=1_024, none: NONE }, Narrow;
    "manifest.name-missing" "how to handle a missing name; the directory name replaces it"
        ChoiceField { lens: lens!(policy.manifest.name_missing) }, Narrow;
    "manifest.name-folder" "how to handle a name that differs from the directory name"
        ChoiceField { lens: lens!(policy.manifest.name_folder) }, Narrow;
    "manifest.description-max" "the maximum length of a description, in characters"
        NumberField { lens: lens!(policy.manifest.description_max), range: 1..=65_536, none: NONE }, Narrow;
    "manifest.description-long" "how to handle a longer description"
        ChoiceField { lens: lens!(policy.manifest.description_long) }, Narrow;
    "manifest.field-form" "how to handle an invalid compatibility or metadata field"
        ChoiceField { lens: lens!(policy.manifest.field_form) }, Narrow;
    "manifest.metadata-values" "how to handle a metadata value that is a number, a boolean or empty; the specification requires text"
        ChoiceField { lens: lens!(policy.manifest.metadata_values) }, Narrow;
    "manifest.known-keys" "which frontmatter keys are known"
        ChoiceField { lens: lens!(policy.manifest.known_keys) }, Narrow;
    "manifest.unknown-keys" "how to handle an unknown key"
        ChoiceField { lens: lens!(policy.manifest.unknown_keys) }, Narrow;
    "manifest.duplicate-keys" "how to handle a duplicate key"
        ChoiceField { lens: lens!(policy.manifest.duplicate_keys) }, Narrow;
    "manifest.preamble" "how to handle text before the frontmatter"
        ChoiceField { lens: lens!(policy.manifest.preamble) }, Narrow;
    "manifest.lowercase-file" "how to handle a file named skill.md"
        ChoiceField { lens: lens!(policy.manifest.lowercase_file) }, Narrow;
    "manifest.repair" "whether missing quotes are added automatically"
        ChoiceField { lens: lens!(policy.manifest.repair) }, Narrow;

    "trust.project" "whether project skills need the user's trust"
        ChoiceField { lens: lens!(policy.trust) }, Narrow;

    "skills.disabled" "names or ids of disabled skills, and disabled sources (source:PATH)"
        TextListField { lens: lens!(policy.selection.disabled) }, Within(narrow::merge_disabled);
    "skills.enabled" "names or ids of skills that are enabled although they are off by default"
        TextListField { lens: lens!(policy.selection.enabled) }, Within(narrow::merge_enabled);
    "skills.disabled-bundled" "disabled bundled skills"
        TextListField { lens: lens!(policy.selection.disabled_bundled) }, Within(narrow::merge_disabled_bundled);
    "skills.enabled-bundled" "if not empty, the only enabled bundled skills"
        TextListField { lens: lens!(policy.selection.enabled_bundled) }, Within(narrow::check_enabled_bundled);
    "skills.pinned" "skills whose catalog entries are shortened last"
        TextListField { lens: lens!(policy.selection.pinned) }, MayNot;
    "skills.name-only" "skills that are listed for the model without a description"
        TextListField { lens: lens!(policy.selection.name_only) }, Within(narrow::merge_name_only);
    "skills.manual" "skills that users can activate but the model does not see"
        TextListField { lens: lens!(policy.selection.manual) }, Within(narrow::merge_manual);

    "limits.skill-md-bytes" "the maximum size of a SKILL.md that is returned, in bytes"
        NumberField { lens: lens!(policy.limits.skill_md_bytes), range: 1..=16 * MEBIBYTE, none: &[] }, Narrow;
    "limits.resource-bytes" "the maximum size of any other file that is returned, in bytes"
        NumberField { lens: lens!(policy.limits.resource_bytes), range: 1..=16 * MEBIBYTE, none: &[] }, Narrow;
    "limits.read-extensions" "the file extensions that the tool ReadFile accepts"
        TextListField { lens: lens!(policy.read_extensions) }, MayNot;

    "catalog.format" "the format of the catalog"
        ChoiceField { lens: lens!(policy.catalog.format) }, May;
    "catalog.location" "whether catalog entries include the path of the file"
        ChoiceField { lens: lens!(policy.catalog.location) }, Narrow;
    "catalog.budget-chars" "the maximum number of characters in the catalog"
        NumberField { lens: lens!(policy.catalog.budget_chars), range: 0..=100_000_000, none: NONE }, Narrow;
    "catalog.budget-tokens" "the maximum number of tokens in the catalog"
        NumberField { lens: lens!(policy.catalog.budget_tokens), range: 0..=100_000_000, none: NONE }, Narrow;
    "catalog.window-tokens" "the size of the model's context window in tokens; if set, the catalog is limited to a share of it"
        NumberField { lens: lens!(policy.catalog.window_tokens), range: 1..=100_000_000, none: NONE }, Narrow;
    "catalog.window-percent" "the maximum share of the context window for the catalog, in percent"
        NumberField { lens: lens!(policy.catalog.window_percent), range: 0..=100, none: &[] }, Narrow;

    "activation.form" "what activating a skill returns to the model, and through which tool"
        ChoiceField { lens: lens!(policy.activation) }, MayNot;
    "activation.max-pushed" "the maximum number of skills that are pushed at once, if activation.form is pushed"
        NumberField { lens: lens!(max_pushed), range: 0..=100, none: &[] }, Narrow;

    "mention.slash" "whether /name at the start of a message activates a skill"
        ChoiceField { lens: lens!(policy.mention.slash) }, Narrow;
    "mention.dollar" "whether $name anywhere in a message activates a skill"
        ChoiceField { lens: lens!(policy.mention.dollar) }, Narrow;

    "refresh" "when changes on disk are detected"
        ChoiceField { lens: lens!(policy.refresh) }, May;

    "sources.mcp" "MCP servers that provide skills"
        McpSourcesField { lens: lens!(mcp_sources) }, MayNot;

    "sources.indexes" "the sites whose skill indexes are searched"
        UrlListField { lens: lens!(indexes) }, MayNot;

    "check.ignore" "diagnostics that `prowess check` does not report: a code, or a glob of files, a colon and a code"
        IgnoredCodesField { lens: lens!(check.ignore) }, May;

    "run.scripts" "whether scripts of skills may run; \"ask\" runs scripts of the allowed skills, and others after confirmation"
        ChoiceField { lens: lens!(policy.run.scripts) }, Narrow;
    "run.allowed-tools" "how a skill's allowed-tools affect its scripts: a listed tool must cover each script (required), or not at all (advisory)"
        ChoiceField { lens: lens!(policy.run.allowed_tools) }, Narrow;
    "run.directory" "the current directory of a script, unless a workspace is named: a new workspace, or the skill's read-only directory"
        ChoiceField { lens: lens!(policy.run.directory) }, May;
    "run.allowed-skills" "skills whose scripts run without confirmation: names, or directories for project skills; followed by @ and a tree hash, only while the files of the skill have that hash"
        TextListField { lens: lens!(policy.run.allowed_skills) }, Within(narrow::check_allowed_skills);
    "run.denied-skills" "skills whose scripts never run: names, or directories for project skills"
        TextListField { lens: lens!(policy.run.denied_skills) }, MayNot;
    "run.network" "skills whose scripts have network access: names, or directories for project skills"
        TextListField { lens: lens!(policy.run.network) }, Within(narrow::check_network);
    "run.env" "environment variables for skills that list them in metadata.env: NAME for all such skills, SKILL:NAME for one"
        TextListField { lens: lens!(policy.run.env) }, Within(narrow::check_env);
    "run.client-roots" "whether scripts may read inputs from the roots of an MCP client"
        ChoiceField { lens: lens!(policy.run.client_roots) }, MayNot;
    "run.script-timeout-ms" "the maximum run time of a script, in milliseconds"
        NumberField { lens: lens!(policy.run.limits.time), range: 1..=3_600_000, none: &[] }, Narrow;
    "run.output-bytes" "the maximum output of a script on both streams together, in bytes"
        NumberField { lens: lens!(policy.run.limits.output_bytes), range: 1..=64 * MEBIBYTE, none: &[] }, Narrow;
    "run.memory-bytes" "the maximum memory of a script, in bytes"
        NumberField { lens: lens!(policy.run.limits.memory_bytes), range: 1..=1_048_576 * MEBIBYTE, none: &[] }, Narrow;
    "run.processes" "the maximum number of processes of a script"
        NumberField { lens: lens!(policy.run.limits.processes), range: 1..=4_096, none: &[] }, Narrow;
    "run.file-bytes" "the maximum size of a file that a script writes, in bytes"
        NumberField { lens: lens!(policy.run.limits.file_bytes), range: 1..=1_048_576 * MEBIBYTE, none: &[] }, Narrow;
    "run.open-files" "the maximum number of open files per process of a script"
        NumberField { lens: lens!(policy.run.limits.open_files), range: 1..=65_536, none: &[] }, Narrow;
    "run.scratch-bytes" "the maximum total size of all files that a script writes, in bytes"
        NumberField { lens: lens!(policy.run.limits.scratch_bytes), range: 1..=1_048_576 * MEBIBYTE, none: &[] }, Narrow;
    "run.workspace-bytes" "the maximum total size of the files in the workspace of a script, in bytes"
        NumberField { lens: lens!(policy.run.limits.workspace_bytes), range: 1..=1_048_576 * MEBIBYTE, none: &[] }, Narrow;
    "run.workspace-files" "the maximum number of files and directories in the workspace of a script"
        NumberField { lens: lens!(policy.run.limits.workspace_files), range: 1..=1_000_000, none: &[] }, Narrow;
    "run.arguments" "the maximum number of arguments of a script"
        NumberField { lens: lens!(policy.run.limits.arguments), range: 0..=4_096, none: &[] }, Narrow;
    "run.argument-bytes" "the maximum total size of the arguments of a script, in bytes"
        NumberField { lens: lens!(policy.run.limits.argument_bytes), range: 0..=131_072, none: &[] }, Narrow;

    "environments.python-index" "the URL of the Python package index that environments of scripts are built from, if not the public one"
        TextField { lens: lens!(policy.run.environments.python_index), description: "an https URL without user, query and fragment", is_valid: is_index_url }, MayNot;
    "environments.npm-registry" "the URL of the npm registry that environments of scripts are built from, if not the public one"
        TextField { lens: lens!(policy.run.environments.npm_registry), description: "an https URL without user, query and fragment", is_valid: is_index_url }, MayNot;
    "environments.hosts" "other hosts that packages may be downloaded from while an environment is built: HOST or HOST:PORT"
        TextListField { lens: lens!(policy.run.environments.hosts) }, MayNot;
    "environments.directory" "the directory of environments, if not ~/.prowess/environments; for root, /var/cache/prowess/environments"
        PathField { lens: lens!(policy.run.environments.directory) }, MayNot;

    "chat.provider" "the API of the chat model"
        ChoiceField { lens: lens!(chat.provider) }, MayNot;
    "chat.model" "the provider's name of the chat model"
        TextField { lens: lens!(chat.model), description: "the name of a model", is_valid: is_model_name }, MayNot;
    "chat.skill-models" "the models that skills may choose with `model`, as NAME or NAME=MODEL"
        TextListField { lens: lens!(chat.skill_models) }, MayNot;
    "chat.base-url" "the base URL of the provider, if not the default"
        TextField { lens: lens!(chat.base_url), description: "a URL without user, query and fragment", is_valid: is_base_url }, MayNot;
    "chat.allow-http" "whether unencrypted connections to a provider on another machine are allowed"
        ChoiceField { lens: lens!(chat.allow_http) }, MayNot;
    "chat.key-env" "the environment variable that holds the provider's API key"
        TextField { lens: lens!(chat.key_env), description: "the name of an environment variable", is_valid: is_variable_name }, MayNot;
    "chat.key-file" "the file that holds the provider's API key; only you may own and read it"
        PathField { lens: lens!(chat.key_file) }, MayNot;
    "chat.tools" "whether tools are offered to the model"
        ChoiceField { lens: lens!(chat.tools) }, Narrow;
    "chat.thinking" "whether the model thinks before it replies, or the number of tokens for it"
        ThinkingField { lens: lens!(chat.request.thinking) }, MayNot;
    "chat.effort" "how thorough the model is"
        ChoiceField { lens: lens!(chat.request.effort) }, MayNot;
    "chat.temperature" "the sampling temperature, if not the provider's default"
        TemperatureField { lens: lens!(chat.request.temperature) }, MayNot;
    "chat.extra-headers" "additional headers of requests to the provider; their values are not printed"
        HeadersField { lens: lens!(chat.request.extra_headers) }, MayNot;
    "chat.extra-body" "additional fields of requests to the provider"
        BodyField { lens: lens!(chat.request.extra_body) }, MayNot;
    "chat.models" "settings of single models, by name: thinking, effort, temperature, max-output-tokens, extra-headers, extra-body"
        ModelsField { lens: lens!(chat.models) }, MayNot;
    "chat.max-steps" "the maximum number of requests to the model in one turn"
        NumberField { lens: lens!(chat.limits.steps), range: 1..=1_000, none: &[] }, Narrow;
    "chat.max-output-tokens" "the maximum number of tokens in one response of the model"
        NumberField { lens: lens!(chat.limits.output_tokens), range: 1..=1_000_000, none: &[] }, Narrow;
    "chat.context-tokens" "the model's context size in tokens; older messages are dropped beyond it"
        NumberField { lens: lens!(chat.limits.context_tokens), range: 1_000..=100_000_000, none: &[] }, Narrow;
    "chat.compact" "whether the model summarizes the older messages of a conversation beyond its context size; otherwise they are dropped"
        ChoiceField { lens: lens!(chat.limits.compact) }, Narrow;
    "chat.max-turn-tokens" "the maximum number of tokens of all requests and responses in one turn"
        NumberField { lens: lens!(chat.limits.turn_tokens), range: 1_000..=1_000_000_000, none: NONE }, Narrow;
    "chat.max-result-bytes" "the maximum size of a tool result that the model is shown, in bytes"
        NumberField { lens: lens!(chat.limits.result_bytes), range: 1_000..=16 * MEBIBYTE, none: &[] }, Narrow;
    "chat.retries" "how often a request is retried when the provider is busy or fails"
        NumberField { lens: lens!(chat.limits.retries), range: 0..=20, none: &[] }, Narrow;
    "chat.file-bytes" "the maximum size of a file in the workspace of a chat, in bytes"
        NumberField { lens: lens!(chat.files.file_bytes), range: 1..=ChatFileLimits::FILE_BYTES_MAX, none: &[] }, Narrow;
    "chat.workspace-bytes" "the maximum size of all files in the workspace of a chat, in bytes"
        NumberField { lens: lens!(chat.files.workspace_bytes), range: 1..=16_384 * MEBIBYTE, none: &[] }, Narrow;
    "chat.workspace-files" "the maximum number of files in the workspace of a chat"
        NumberField { lens: lens!(chat.files.workspace_files), range: 1..=ChatFileLimits::WORKSPACE_FILES_MAX as u64, none: &[] }, Narrow;
    "chat.connect-timeout-ms" "the timeout for connecting to the provider, in milliseconds"
        NumberField { lens: lens!(chat.timeouts.connect), range: 1..=3_600_000, none: &[] }, Narrow;
    "chat.first-byte-timeout-ms" "the timeout for the first byte of a response, in milliseconds"
        NumberField { lens: lens!(chat.timeouts.first_byte), range: 1..=3_600_000, none: &[] }, Narrow;
    "chat.idle-timeout-ms" "the maximum pause within a response, in milliseconds"
        NumberField { lens: lens!(chat.timeouts.idle), range: 1..=3_600_000, none: &[] }, Narrow;
    "chat.request-timeout-ms" "the timeout of a whole request, in milliseconds"
        NumberField { lens: lens!(chat.timeouts.request), range: 1..=86_400_000, none: &[] }, Narrow;
    "chat.store" "where chats are stored, if not in the user's state; a password in it is not printed"
        ChatStoreField { lens: lens!(chat.store) }, MayNot;

    "embeddings.provider" "the API of the embeddings model, which compares the meaning of messages and skills"
        ChoiceField { lens: lens!(embeddings.provider) }, MayNot;
    "embeddings.model" "the provider's name of the embeddings model"
        TextField { lens: lens!(embeddings.model), description: "the name of a model", is_valid: is_model_name }, MayNot;
    "embeddings.base-url" "the base URL of the embeddings provider, if not the default"
        TextField { lens: lens!(embeddings.base_url), description: "a URL without user, query and fragment", is_valid: is_base_url }, MayNot;
    "embeddings.allow-http" "whether unencrypted connections to an embeddings provider on another machine are allowed"
        ChoiceField { lens: lens!(embeddings.allow_http) }, MayNot;
    "embeddings.key-env" "the environment variable that holds the embeddings provider's API key"
        TextField { lens: lens!(embeddings.key_env), description: "the name of an environment variable", is_valid: is_variable_name }, MayNot;
    "embeddings.weight" "the weight of embeddings relative to words, in percent of the default"
        NumberField { lens: lens!(embeddings.weight), range: 0..=10_000, none: &[] }, MayNot;
    "embeddings.timeout-ms" "how long to wait for the embedding of a message, in milliseconds; after that, only words are compared"
        NumberField { lens: lens!(embeddings.timeout), range: 1..=60_000, none: &[] }, MayNot;

    "test.judge-model" "the provider's name of the model that grades expectations of skills' evaluations"
        TextField { lens: lens!(test.judge_model), description: "the name of a model", is_valid: is_model_name }, MayNot;
    "test.prices" "the prices of models, in dollars per million tokens: MODEL=INPUT/OUTPUT[/CACHE-READ[/CACHE-WRITE]]"
        TextListField { lens: lens!(test.prices) }, MayNot;
    "test.max-requests" "the maximum number of requests to models in a test"
        NumberField { lens: lens!(test.max_requests), range: 1..=1_000_000, none: &[] }, Narrow;
    "test.max-tokens" "the maximum number of input and output tokens in a test"
        NumberField { lens: lens!(test.max_tokens), range: 1..=100_000_000_000, none: &[] }, Narrow;
    "test.max-cents" "the maximum cost of a test, in cents of a dollar; needs test.prices"
        NumberField { lens: lens!(test.max_cents), range: 0..=100_000_000, none: NONE }, Narrow;
    "test.max-time-ms" "the maximum time of a test, in milliseconds"
        NumberField { lens: lens!(test.max_time), range: 1..=604_800_000, none: &[] }, Narrow;
    "test.run-timeout-ms" "the maximum time of one run of an agent in a test, in milliseconds"
        NumberField { lens: lens!(test.run_timeout), range: 1..=86_400_000, none: &[] }, Narrow;
    "test.jobs" "the number of runs of an agent at the same time in a test"
        NumberField { lens: lens!(test.jobs), range: 1..=64, none: &[] }, Narrow;
}
