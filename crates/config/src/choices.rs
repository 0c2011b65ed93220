//! The names of the policy's choices, each from the most restrictive to the most permissive.

use super::chat::{ChatProvider, ToolCalling};
use super::embeddings::EmbeddingsProvider;
use super::model_settings::Effort;
use prowess_format::{KnownKeys, NameRule, Repair, RuleLevel};

use prowess::policy::{
    ActivationMode, AllowedTools, AncestorSearch, CatalogFormat, DuplicatePolicy, LocationVisibility,
    MentionSyntax, Preset, ProjectTrust, RefreshPolicy, RequiresPolicy, ScriptDirectory, ScriptPolicy,
    SkillIdentity,
};

/// An enum whose values have names in the configuration.
pub(super) trait NamedChoice: Sized + Copy + 'static {
    /// The names. Permissive choices come after restrictive ones.
    const NAMES: &'static [(&'static str, Self)];

    fn is_same(self, other: Self) -> bool;
}

macro_rules! words {
    ($($type:ty: $($word:literal $choice:expr),+;)+) => {
        $(impl NamedChoice for $type {
            const NAMES: &'static [(&'static str, Self)] = &[$(($word, $choice)),+];

            fn is_same(self, other: Self) -> bool {
                self == other
            }
        })+
    };
}

words! {
    bool: "false" false, "true" true;
    Preset: "standard" Preset::Standard, "app" Preset::App, "skill-tool" Preset::SkillTool,
        "harness" Preset::Harness, "triggers" Preset::Triggers, "chat" Preset::Chat;
    AncestorSearch: "none" AncestorSearch::None, "git-root" AncestorSearch::GitRoot;
    SkillIdentity: "id" SkillIdentity::Id, "name" SkillIdentity::Name;
    DuplicatePolicy: "first" DuplicatePolicy::FirstWins, "last" DuplicatePolicy::LastWins;
    RequiresPolicy: "checked" RequiresPolicy::All, "own" RequiresPolicy::ProwessOnly, "ignored" RequiresPolicy::Ignored;
    RuleLevel: "reject" RuleLevel::Reject, "warn" RuleLevel::Warn, "ignore" RuleLevel::Ignore;
    NameRule: "ascii" NameRule::Ascii, "alphanumeric" NameRule::Alphanumeric, "unicode" NameRule::Unicode,
        "title" NameRule::Title;
    KnownKeys: "basic" KnownKeys::Basic, "standard" KnownKeys::Standard, "triggers" KnownKeys::Triggers,
        "all" KnownKeys::All;
    Repair: "off" Repair::Off, "on" Repair::On;
    ProjectTrust: "required" ProjectTrust::Required, "not-needed" ProjectTrust::NotNeeded;
    CatalogFormat: "xml" CatalogFormat::Xml, "json" CatalogFormat::Json, "bullets" CatalogFormat::Bullets,
        "tool" CatalogFormat::Tool, "tiers" CatalogFormat::Tiers;
    LocationVisibility: "hidden" LocationVisibility::Hidden, "shown" LocationVisibility::Shown;
    MentionSyntax: "false" MentionSyntax::Disabled, "true" MentionSyntax::Enabled;
    AllowedTools: "required" AllowedTools::Required, "advisory" AllowedTools::Advisory;
    ScriptDirectory: "workspace" ScriptDirectory::Workspace, "skill" ScriptDirectory::Skill;
    ScriptPolicy: "never" ScriptPolicy::Never, "ask" ScriptPolicy::Ask, "allowed" ScriptPolicy::Allowed;
    ChatProvider: "rehearsal" ChatProvider::Rehearsal, "anthropic" ChatProvider::Anthropic, "openai" ChatProvider::OpenAi,
        "openai-chat" ChatProvider::OpenAiChat;
    EmbeddingsProvider: "off" EmbeddingsProvider::Off, "openai" EmbeddingsProvider::OpenAi,
        "ollama" EmbeddingsProvider::Ollama;
    Effort: "auto" Effort::Auto, "none" Effort::None, "minimal" Effort::Minimal, "low" Effort::Low,
        "medium" Effort::Medium, "high" Effort::High, "xhigh" Effort::XHigh, "max" Effort::Max;
    ToolCalling: "off" ToolCalling::Off, "auto" ToolCalling::Auto;
    RefreshPolicy: "at-start" RefreshPolicy::AtStart, "on-change" RefreshPolicy::OnChange,
        "directory-time" RefreshPolicy::DirectoryTime, "fingerprint" RefreshPolicy::Fingerprint;
}

impl NamedChoice for ActivationMode {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("wrapped", Self::Wrapped),
        ("read-file", Self::ReadFile),
        ("skill-tool", Self::SkillTool),
        ("full-file", Self::FullFile),
        // The number is a key of its own.
        ("pushed", Self::Pushed { max: 0 }),
        ("frontmatter-and-body", Self::FrontmatterAndBody),
    ];

    fn is_same(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}
