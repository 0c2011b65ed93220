//! The directories in which the clients search for skills.

use super::Client;

/// The directories in which a client searches for skills, as far as they are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkillDirs {
    /// Relative to the project.
    pub project: &'static [&'static str],
    /// Relative to the home directory.
    pub home: &'static [&'static str],
}

impl Client {
    /// Returns the directories in which it searches for skills.
    ///
    /// ```
    /// use prowess_format::dialects::Client;
    ///
    /// assert_eq!(Client::ClaudeCode.skill_dirs().project, [".claude/skills"]);
    /// ```
    pub fn skill_dirs(self) -> SkillDirs {
        let (project, home): (&[_], &[_]) = match self {
            Self::ClaudeCode => (&[".claude/skills"], &[".claude/skills"]),
            Self::Codex => (&[".agents/skills"], &[".agents/skills", ".codex/skills"]),
            Self::GeminiCli => (&[".agents/skills", ".gemini/skills"], &[".agents/skills", ".gemini/skills"]),
            Self::Opencode => (
                &[".agents/skills", ".claude/skills", ".opencode/skills"],
                &[".agents/skills", ".claude/skills", ".config/opencode/skills"],
            ),
            Self::QwenCode => (&[".agents/skills", ".qwen/skills"], &[".qwen/skills"]),
            Self::GithubCopilot | Self::Vscode => (
                &[".agents/skills", ".claude/skills", ".github/skills"],
                &[".agents/skills", ".claude/skills", ".copilot/skills"],
            ),
            Self::Droid => (&[".agents/skills", ".factory/skills"], &[".factory/skills"]),
            Self::Crush => (&[".crush/skills"], &[".config/crush/skills"]),
            Self::Roo => (&[".roo/skills"], &[".roo/skills"]),
            Self::Cline => (&[".agents/skills"], &[".agents/skills"]),
            Self::Goose => (
                &[".agents/skills", ".claude/skills", ".goose/skills"],
                &[".agents/skills", ".claude/skills", ".config/goose/skills"],
            ),
            Self::Cursor => (
                &[".agents/skills", ".claude/skills", ".codex/skills", ".cursor/skills"],
                &[".agents/skills", ".claude/skills", ".codex/skills", ".cursor/skills"],
            ),
            Self::OpenClaw => (&["skills"], &[".openclaw/skills"]),
            Self::Hermes => (&[".hermes/skills"], &[".hermes/skills"]),
            Self::Windsurf => (&[".windsurf/skills"], &[".codeium/windsurf/skills"]),
        };
        SkillDirs { project, home }
    }
}
