//! The six presets, as one table. Read a column from top to bottom; what a preset does not mention is `standard`'s.

use std::fmt;
use std::str::FromStr;

use prowess_format::{KnownKeys, Level, NameRule, Repair, Rules};

use super::{
    Activation, AllowedTools, Ancestors, Catalog, CatalogFormat, Identity, Limits, Location, Mention, Policy,
    ProjectTrust, Recognised, Refresh, Requires, RootSpec, Run, Scan, Selection, Twice,
};

/// A named set of policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preset {
    /// The Agent Skills specification and its client guide.
    #[default]
    Standard,
    /// Document 000: an application with its own and the user's skills, and one tool `ReadFile`.
    App,
    /// Document 001: project skills behind one tool `Skill`.
    SkillTool,
    /// Document 002: strict manifests, five sources, plugins.
    Harness,
    /// Document 003: triggers and four tiers.
    Triggers,
    /// Document 004: a chat server, off until switched on.
    Chat,
}

impl Preset {
    /// All presets, in the order of the table.
    pub const ALL: [Self; 6] =
        [Self::Standard, Self::App, Self::SkillTool, Self::Harness, Self::Triggers, Self::Chat];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::App => "app",
            Self::SkillTool => "skill-tool",
            Self::Harness => "harness",
            Self::Triggers => "triggers",
            Self::Chat => "chat",
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// There is no preset of this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no preset {0:?}; there are standard, app, skill-tool, harness, triggers and chat")]
pub struct UnknownPreset(pub String);

impl FromStr for Preset {
    type Err = UnknownPreset;

    fn from_str(name: &str) -> Result<Self, UnknownPreset> {
        Self::ALL
            .into_iter()
            .find(|preset| preset.as_str() == name)
            .ok_or_else(|| UnknownPreset(name.to_owned()))
    }
}

/// The policy of a preset.
pub(super) fn policy(preset: Preset) -> Policy {
    match preset {
        Preset::Standard => standard(),
        Preset::App => app(),
        Preset::SkillTool => skill_tool(),
        Preset::Harness => harness(),
        Preset::Triggers => triggers(),
        Preset::Chat => chat(),
    }
}

const UNBOUNDED: u32 = u32::MAX;

fn standard() -> Policy {
    Policy {
        preset: Preset::Standard,
        enabled: true,
        scan: Scan {
            roots: roots(&[
                ".agents/skills",
                ".prowess/skills",
                ".claude/skills",
                "~/.agents/skills",
                "~/.prowess/skills",
                "~/.claude/skills",
                "bundled",
            ]),
            ancestors: Ancestors::GitRoot,
            depth: 6,
            max_directories: 250_000,
            max_entries: 1_000_000,
            max_skills: None,
            links: Vec::new(),
            identity: Identity::Name,
            twice: Twice::First,
            requires: Requires::Own,
        },
        manifest: Rules::standard(),
        trust: ProjectTrust::Required,
        selection: Selection::default(),
        limits: Limits { skill_md_bytes: 200_000, resource_bytes: 2_000_000 },
        read_extensions: [".md", ".cs", ".py", ".txt", ".json", ".yml", ".yaml"].map(str::to_owned).to_vec(),
        catalog: Catalog {
            format: CatalogFormat::Xml,
            location: Location::Hidden,
            budget_chars: None,
            budget_tokens: Some(8_000),
            window_tokens: None,
            window_percent: 2,
        },
        activation: Activation::Wrapped,
        mention: Mention { slash: Recognised::Yes, dollar: Recognised::Yes },
        refresh: Refresh::Fingerprint,
        run: Run::default(),
    }
}

fn app() -> Policy {
    let base = standard();
    Policy {
        preset: Preset::App,
        scan: Scan {
            roots: roots(&["bundled:.agents/sys.skills", "user:.agents/skills"]),
            ancestors: Ancestors::None,
            depth: 1,
            identity: Identity::Id,
            requires: Requires::Ignored,
            ..base.scan
        },
        manifest: Rules {
            name: NameRule::Title,
            name_form: Level::Ignore,
            name_max: None,
            name_folder: Level::Ignore,
            description_max: None,
            known_keys: KnownKeys::Basic,
            unknown_keys: Level::Ignore,
            preamble: Level::Reject,
            lowercase_file: Level::Reject,
            repair: Repair::Off,
            ..base.manifest
        },
        trust: ProjectTrust::NotNeeded,
        catalog: Catalog { format: CatalogFormat::Bullets, budget_tokens: None, ..base.catalog },
        activation: Activation::ReadFile,
        mention: Mention { slash: Recognised::Yes, dollar: Recognised::No },
        refresh: Refresh::OnChange,
        ..base
    }
}

fn skill_tool() -> Policy {
    let base = standard();
    Policy {
        preset: Preset::SkillTool,
        scan: Scan {
            roots: roots(&["skills"]),
            ancestors: Ancestors::None,
            depth: UNBOUNDED,
            twice: Twice::Last,
            requires: Requires::Ignored,
            ..base.scan
        },
        manifest: Rules {
            name: NameRule::Ascii,
            name_form: Level::Reject,
            name_max: None,
            name_folder: Level::Ignore,
            description_max: None,
            known_keys: KnownKeys::Basic,
            unknown_keys: Level::Ignore,
            lowercase_file: Level::Reject,
            ..base.manifest
        },
        trust: ProjectTrust::NotNeeded,
        catalog: Catalog {
            format: CatalogFormat::Tool,
            budget_chars: Some(12_000),
            budget_tokens: None,
            ..base.catalog
        },
        activation: Activation::SkillTool,
        mention: Mention { slash: Recognised::No, dollar: Recognised::Yes },
        refresh: Refresh::DirectoryTime,
        ..base
    }
}

fn harness() -> Policy {
    let base = standard();
    Policy {
        preset: Preset::Harness,
        scan: Scan {
            roots: roots(&[
                "plugin:~/.agent/plugins",
                ".agent/skills",
                ".claude/skills",
                "~/.agent/skills",
                "bundled",
            ]),
            ancestors: Ancestors::None,
            depth: 1,
            requires: Requires::Checked,
            ..base.scan
        },
        manifest: Rules {
            name: NameRule::Ascii,
            name_form: Level::Reject,
            name_folder: Level::Reject,
            description_long: Level::Reject,
            field_form: Level::Reject,
            known_keys: KnownKeys::Standard,
            unknown_keys: Level::Reject,
            preamble: Level::Reject,
            lowercase_file: Level::Reject,
            repair: Repair::Off,
            ..base.manifest
        },
        trust: ProjectTrust::NotNeeded,
        catalog: Catalog { location: Location::Shown, budget_tokens: None, ..base.catalog },
        activation: Activation::FullFile,
        mention: Mention { slash: Recognised::No, dollar: Recognised::No },
        refresh: Refresh::AtStart,
        ..base
    }
}

fn triggers() -> Policy {
    let base = harness();
    Policy {
        preset: Preset::Triggers,
        scan: Scan { roots: roots(&[".agent/skills", "~/.agent/skills", "bundled"]), ..base.scan },
        manifest: Rules {
            name: NameRule::Alphanumeric,
            description_max: Some(500),
            field_form: Level::Warn,
            known_keys: KnownKeys::Triggers,
            unknown_keys: Level::Warn,
            ..base.manifest
        },
        catalog: Catalog { format: CatalogFormat::Tiers, location: Location::Hidden, ..base.catalog },
        activation: Activation::Pushed { max: 3 },
        ..base
    }
}

fn chat() -> Policy {
    let base = harness();
    Policy {
        preset: Preset::Chat,
        enabled: false,
        scan: Scan {
            roots: roots(&[".skills", ".agents/skills", "~/.agents/skills", "~/.remcochat/skills"]),
            max_skills: Some(200),
            requires: Requires::Ignored,
            ..base.scan
        },
        manifest: Rules { unknown_keys: Level::Warn, field_form: Level::Warn, ..base.manifest },
        catalog: Catalog { format: CatalogFormat::Json, location: Location::Hidden, ..base.catalog },
        activation: Activation::FrontmatterAndBody,
        mention: Mention { slash: Recognised::Yes, dollar: Recognised::No },
        run: Run { allowed_tools: AllowedTools::Required, ..base.run },
        ..base
    }
}

/// The table's own roots are well formed; a test reads each of them.
fn roots(texts: &[&str]) -> Vec<RootSpec> {
    texts.iter().filter_map(|text| text.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_as_people_read_it() {
        let rows: Vec<_> = Preset::ALL.into_iter().map(|preset| format!("{:#?}", policy(preset))).collect();
        insta::assert_snapshot!(rows.join("\n\n"));
    }

    #[test]
    fn every_root_of_the_table_is_read() {
        let counts = Preset::ALL.map(|preset| policy(preset).scan.roots.len());
        assert_eq!(counts, [7, 2, 1, 5, 3, 4]);
    }
}
