//! How the policy's choices are written, each from the narrowest to the widest.

use super::chat::{Provider, ToolCalling};
use super::embeddings::EmbeddingsProvider;
use prowess_format::{KnownKeys, Level, NameRule, Repair};

use prowess::policy::{
    Activation, AllowedTools, Ancestors, CatalogFormat, Identity, Location, Preset, ProjectTrust, Recognised,
    Refresh, Requires, Scripts, Twice,
};

/// A choice among a few, each of which has a name.
pub(super) trait Named: Sized + Copy + 'static {
    /// The names; where one choice allows more than another, it stands later.
    const WORDS: &'static [(&'static str, Self)];

    /// Whether it is the same choice.
    fn is(self, other: Self) -> bool;
}

macro_rules! words {
    ($($type:ty: $($word:literal $choice:expr),+;)+) => {
        $(impl Named for $type {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, $choice)),+];

            fn is(self, other: Self) -> bool {
                self == other
            }
        })+
    };
}

words! {
    bool: "false" false, "true" true;
    Preset: "standard" Preset::Standard, "app" Preset::App, "skill-tool" Preset::SkillTool,
        "harness" Preset::Harness, "triggers" Preset::Triggers, "chat" Preset::Chat;
    Ancestors: "none" Ancestors::None, "git-root" Ancestors::GitRoot;
    Identity: "id" Identity::Id, "name" Identity::Name;
    Twice: "first" Twice::First, "last" Twice::Last;
    Requires: "checked" Requires::Checked, "own" Requires::Own, "ignored" Requires::Ignored;
    Level: "reject" Level::Reject, "warn" Level::Warn, "ignore" Level::Ignore;
    NameRule: "ascii" NameRule::Ascii, "alphanumeric" NameRule::Alphanumeric, "unicode" NameRule::Unicode,
        "title" NameRule::Title;
    KnownKeys: "basic" KnownKeys::Basic, "standard" KnownKeys::Standard, "triggers" KnownKeys::Triggers,
        "all" KnownKeys::All;
    Repair: "off" Repair::Off, "on" Repair::On;
    ProjectTrust: "required" ProjectTrust::Required, "not-needed" ProjectTrust::NotNeeded;
    CatalogFormat: "xml" CatalogFormat::Xml, "json" CatalogFormat::Json, "bullets" CatalogFormat::Bullets,
        "tool" CatalogFormat::Tool, "tiers" CatalogFormat::Tiers;
    Location: "hidden" Location::Hidden, "shown" Location::Shown;
    Recognised: "false" Recognised::No, "true" Recognised::Yes;
    AllowedTools: "required" AllowedTools::Required, "advisory" AllowedTools::Advisory;
    Scripts: "never" Scripts::Never, "ask" Scripts::Ask, "allowed" Scripts::Allowed;
    Provider: "rehearsal" Provider::Rehearsal, "anthropic" Provider::Anthropic, "openai" Provider::OpenAi,
        "openai-chat" Provider::OpenAiChat;
    EmbeddingsProvider: "off" EmbeddingsProvider::Off, "openai" EmbeddingsProvider::OpenAi,
        "ollama" EmbeddingsProvider::Ollama;
    ToolCalling: "off" ToolCalling::Off, "auto" ToolCalling::Auto;
    Refresh: "at-start" Refresh::AtStart, "on-change" Refresh::OnChange,
        "directory-time" Refresh::DirectoryTime, "fingerprint" Refresh::Fingerprint;
}

impl Named for Activation {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("wrapped", Self::Wrapped),
        ("read-file", Self::ReadFile),
        ("skill-tool", Self::SkillTool),
        ("full-file", Self::FullFile),
        // How many is a key of its own.
        ("pushed", Self::Pushed { max: 0 }),
        ("frontmatter-and-body", Self::FrontmatterAndBody),
    ];

    fn is(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}
