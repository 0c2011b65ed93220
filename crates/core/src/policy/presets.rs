//! The six presets as one table. Each describes one skill system, and takes every value that it does not mention
//! from `standard`. `docs/glossary.md` lists the documents 000 to 004 that five of them follow.

use std::str::FromStr;

use prowess_format::{KnownKeys, NameRule, Repair, RuleLevel, Rules};

use super::{
    ActivationMode, AllowedTools, AncestorSearch, CatalogFormat, CatalogPolicy, DuplicatePolicy,
    LocationVisibility, MentionPolicy, MentionSyntax, Policy, ProjectTrust, ReadLimits, RefreshPolicy,
    RequiresPolicy, RootSpec, RunPolicy, ScanPolicy, ScriptDirectory, SkillIdentity, SkillSelection,
};

prowess_format::named_enum! {
    /// A named set of policy values.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Preset {
        /// The Agent Skills specification and its client guide.
        #[default]
        Standard = "standard",
        /// Document 000: an application with bundled and user skills, and one tool `ReadFile`.
        App = "app",
        /// Document 001: project skills behind one tool `Skill`.
        SkillTool = "skill-tool",
        /// Document 002: strict manifests, five sources, plugins.
        Harness = "harness",
        /// Document 003: triggers and four tiers.
        Triggers = "triggers",
        /// Document 004: a chat server, disabled by default.
        Chat = "chat",
    }
}

/// The error for a name that is not a preset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown preset {0:?}; valid presets: standard, app, skill-tool, harness, triggers, chat")]
pub struct ParsePresetError(pub String);

impl FromStr for Preset {
    type Err = ParsePresetError;

    fn from_str(name: &str) -> Result<Self, ParsePresetError> {
        Self::ALL
            .into_iter()
            .find(|preset| preset.as_str() == name)
            .ok_or_else(|| ParsePresetError(name.to_owned()))
    }
}

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
        scan: ScanPolicy {
            roots: roots(&[
                ".agents/skills",
                ".prowess/skills",
                ".claude/skills",
                "~/.agents/skills",
                "~/.prowess/skills",
                "~/.claude/skills",
                "bundled",
            ]),
            ancestors: AncestorSearch::GitRoot,
            depth: 6,
            max_directories: 250_000,
            max_entries: 1_000_000,
            max_skills: None,
            links: Vec::new(),
            identity: SkillIdentity::Name,
            duplicates: DuplicatePolicy::FirstWins,
            requires: RequiresPolicy::ProwessOnly,
        },
        manifest: Rules::standard(),
        trust: ProjectTrust::Required,
        selection: SkillSelection::default(),
        limits: ReadLimits { skill_md_bytes: 200_000, resource_bytes: 2_000_000 },
        read_extensions: [".md", ".cs", ".py", ".txt", ".json", ".yml", ".yaml"].map(str::to_owned).to_vec(),
        catalog: CatalogPolicy {
            format: CatalogFormat::Xml,
            location: LocationVisibility::Hidden,
            budget_chars: None,
            budget_tokens: Some(8_000),
            window_tokens: None,
            window_percent: 2,
        },
        activation: ActivationMode::Wrapped,
        mention: MentionPolicy { slash: MentionSyntax::Enabled, dollar: MentionSyntax::Enabled },
        refresh: RefreshPolicy::Fingerprint,
        run: RunPolicy::default(),
    }
}

fn app() -> Policy {
    let base = standard();
    Policy {
        preset: Preset::App,
        scan: ScanPolicy {
            roots: roots(&["bundled:.agents/sys.skills", "user:.agents/skills"]),
            ancestors: AncestorSearch::None,
            depth: 1,
            identity: SkillIdentity::Id,
            requires: RequiresPolicy::Ignored,
            ..base.scan
        },
        manifest: Rules {
            name: NameRule::Title,
            name_form: RuleLevel::Ignore,
            name_max: None,
            name_missing: RuleLevel::Reject,
            name_folder: RuleLevel::Ignore,
            description_max: None,
            known_keys: KnownKeys::Basic,
            unknown_keys: RuleLevel::Ignore,
            preamble: RuleLevel::Reject,
            lowercase_file: RuleLevel::Reject,
            repair: Repair::Off,
            ..base.manifest
        },
        trust: ProjectTrust::NotNeeded,
        catalog: CatalogPolicy { format: CatalogFormat::Bullets, budget_tokens: None, ..base.catalog },
        activation: ActivationMode::ReadFile,
        mention: MentionPolicy { slash: MentionSyntax::Enabled, dollar: MentionSyntax::Disabled },
        refresh: RefreshPolicy::OnChange,
        ..base
    }
}

fn skill_tool() -> Policy {
    let base = standard();
    Policy {
        preset: Preset::SkillTool,
        scan: ScanPolicy {
            roots: roots(&["skills"]),
            ancestors: AncestorSearch::None,
            depth: UNBOUNDED,
            duplicates: DuplicatePolicy::LastWins,
            requires: RequiresPolicy::Ignored,
            ..base.scan
        },
        manifest: Rules {
            name: NameRule::Ascii,
            name_form: RuleLevel::Reject,
            name_max: None,
            name_missing: RuleLevel::Reject,
            name_folder: RuleLevel::Ignore,
            description_max: None,
            known_keys: KnownKeys::Basic,
            unknown_keys: RuleLevel::Ignore,
            lowercase_file: RuleLevel::Reject,
            ..base.manifest
        },
        trust: ProjectTrust::NotNeeded,
        catalog: CatalogPolicy {
            format: CatalogFormat::Tool,
            budget_chars: Some(12_000),
            budget_tokens: None,
            ..base.catalog
        },
        activation: ActivationMode::SkillTool,
        mention: MentionPolicy { slash: MentionSyntax::Disabled, dollar: MentionSyntax::Enabled },
        refresh: RefreshPolicy::DirectoryTime,
        ..base
    }
}

fn harness() -> Policy {
    let base = standard();
    Policy {
        preset: Preset::Harness,
        scan: ScanPolicy {
            roots: roots(&[
                "plugin:~/.agent/plugins",
                ".agent/skills",
                ".claude/skills",
                "~/.agent/skills",
                "bundled",
            ]),
            ancestors: AncestorSearch::None,
            depth: 1,
            requires: RequiresPolicy::All,
            ..base.scan
        },
        manifest: Rules {
            name: NameRule::Ascii,
            name_form: RuleLevel::Reject,
            name_missing: RuleLevel::Reject,
            name_folder: RuleLevel::Reject,
            description_long: RuleLevel::Reject,
            field_form: RuleLevel::Reject,
            known_keys: KnownKeys::Standard,
            unknown_keys: RuleLevel::Reject,
            preamble: RuleLevel::Reject,
            lowercase_file: RuleLevel::Reject,
            repair: Repair::Off,
            ..base.manifest
        },
        trust: ProjectTrust::NotNeeded,
        catalog: CatalogPolicy { location: LocationVisibility::Shown, budget_tokens: None, ..base.catalog },
        activation: ActivationMode::FullFile,
        mention: MentionPolicy { slash: MentionSyntax::Disabled, dollar: MentionSyntax::Disabled },
        run: RunPolicy { directory: ScriptDirectory::Skill, ..base.run },
        refresh: RefreshPolicy::AtStart,
        ..base
    }
}

fn triggers() -> Policy {
    let base = harness();
    Policy {
        preset: Preset::Triggers,
        scan: ScanPolicy { roots: roots(&[".agent/skills", "~/.agent/skills", "bundled"]), ..base.scan },
        manifest: Rules {
            name: NameRule::Alphanumeric,
            description_max: Some(500),
            field_form: RuleLevel::Warn,
            known_keys: KnownKeys::Triggers,
            unknown_keys: RuleLevel::Warn,
            ..base.manifest
        },
        catalog: CatalogPolicy {
            format: CatalogFormat::Tiers,
            location: LocationVisibility::Hidden,
            ..base.catalog
        },
        activation: ActivationMode::Pushed { max: 3 },
        ..base
    }
}

fn chat() -> Policy {
    let base = harness();
    Policy {
        preset: Preset::Chat,
        enabled: false,
        scan: ScanPolicy {
            roots: roots(&[".skills", ".agents/skills", "~/.agents/skills", "~/.remcochat/skills"]),
            max_skills: Some(200),
            requires: RequiresPolicy::Ignored,
            ..base.scan
        },
        manifest: Rules { unknown_keys: RuleLevel::Warn, field_form: RuleLevel::Warn, ..base.manifest },
        catalog: CatalogPolicy {
            format: CatalogFormat::Json,
            location: LocationVisibility::Hidden,
            ..base.catalog
        },
        activation: ActivationMode::FrontmatterAndBody,
        mention: MentionPolicy { slash: MentionSyntax::Enabled, dollar: MentionSyntax::Disabled },
        run: RunPolicy {
            allowed_tools: AllowedTools::Required,
            directory: ScriptDirectory::Workspace,
            ..base.run
        },
        ..base
    }
}

/// Parses the roots of the table. A test checks that all of them are valid.
fn roots(texts: &[&str]) -> Vec<RootSpec> {
    texts.iter().filter_map(|text| text.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_presets() {
        let rows: Vec<_> = Preset::ALL.into_iter().map(|preset| format!("{:#?}", policy(preset))).collect();
        insta::assert_snapshot!(rows.join("\n\n"));
    }

    #[test]
    fn every_root_of_the_table_is_valid() {
        let counts = Preset::ALL.map(|preset| policy(preset).scan.roots.len());
        assert_eq!(counts, [7, 2, 1, 5, 3, 4]);
    }
}
