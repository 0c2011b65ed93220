//! Agents that are known: how each is started, where it finds skills, and what it prints.

use prowess::format::dialects::Client;
use serde_json::json;

use super::GatewayAddress;
use super::workspace::AgentDirs;

prowess::format::named_enum! {
    /// An agent that is known.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum AgentPreset {
        /// Claude Code.
        Claude = "claude",
        /// Codex.
        Codex = "codex",
        /// opencode.
        Opencode = "opencode",
    }
}

impl AgentPreset {
    /// Returns the preset with this name.
    ///
    /// ```
    /// use prowess_evals::agent::AgentPreset;
    ///
    /// assert_eq!(AgentPreset::find("codex"), Some(AgentPreset::Codex));
    /// ```
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.as_str() == name)
    }

    /// Returns the arguments that do one task, whose prompt is the standard input: a prompt of any length that is never taken
    /// for an option. None of them asks for permission, because the sandbox confines the agent.
    pub(super) fn arguments(self, gateway: &GatewayAddress) -> Vec<String> {
        let model = gateway.model.clone();
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        match self {
            Self::Claude => {
                let mut arguments = words(&["-p", "--output-format", "stream-json", "--verbose"]);
                arguments.extend(words(&["--permission-mode", "bypassPermissions", "--model"]));
                arguments.push(model);
                arguments
            }
            Self::Codex => {
                let mut arguments = words(&["exec", "--json", "--skip-git-repo-check"]);
                // Its own sandbox does not work inside of ours.
                arguments.push("--dangerously-bypass-approvals-and-sandbox".to_owned());
                for setting in codex_settings(gateway) {
                    arguments.extend(["-c".to_owned(), setting]);
                }
                arguments.extend(["--model".to_owned(), model, "-".to_owned()]);
                arguments
            }
            Self::Opencode => {
                let mut arguments = words(&["run", "--format", "json", "--model"]);
                arguments.push(format!("gateway/{model}"));
                arguments
            }
        }
    }

    /// Returns the arguments that start the agent with the Agent Client Protocol, if it speaks it itself.
    pub(super) fn acp_arguments(self) -> Option<Vec<String>> {
        match self {
            Self::Claude | Self::Codex => None,
            Self::Opencode => Some(vec!["acp".to_owned()]),
        }
    }

    /// Returns other programs without which the agent cannot load skills.
    pub(super) fn needed_programs(self) -> &'static [&'static str] {
        match self {
            Self::Claude | Self::Codex => &[],
            // It lists the files of a skill with ripgrep, which it would download.
            Self::Opencode => &["rg"],
        }
    }

    /// Returns the variables that lead the agent to the gateway and turn off everything else that uses the network.
    pub(super) fn environment(self, gateway: &GatewayAddress) -> Vec<(String, String)> {
        let variables: Vec<(&str, String)> = match self {
            Self::Claude => vec![
                ("ANTHROPIC_BASE_URL", gateway.base_url()),
                ("ANTHROPIC_API_KEY", DUMMY_KEY.to_owned()),
                ("ANTHROPIC_SMALL_FAST_MODEL", gateway.model.clone()),
                ("ANTHROPIC_DEFAULT_HAIKU_MODEL", gateway.model.clone()),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
                ("DISABLE_AUTOUPDATER", "1".to_owned()),
                ("IS_SANDBOX", "1".to_owned()),
            ],
            Self::Codex => vec![("PROWESS_GATEWAY_KEY", DUMMY_KEY.to_owned())],
            Self::Opencode => vec![
                ("OPENCODE_CONFIG_CONTENT", opencode_config(gateway).to_string()),
                ("OPENCODE_DISABLE_AUTOUPDATE", "1".to_owned()),
                ("OPENCODE_DISABLE_MODELS_FETCH", "1".to_owned()),
                ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1".to_owned()),
                ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1".to_owned()),
            ],
        };
        variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Returns the directories of the agent in a project.
    pub(super) fn dirs(self) -> AgentDirs {
        let (client, settings): (_, &[&str]) = match self {
            Self::Claude => (Client::ClaudeCode, &[".claude"]),
            Self::Codex => (Client::Codex, &[".codex"]),
            Self::Opencode => (Client::Opencode, &[".opencode"]),
        };
        let skills = client.skill_dirs().project.first().copied().unwrap_or(DEFAULT_SKILL_DIR);
        AgentDirs {
            skills: skills.to_owned(),
            settings: settings.iter().map(|dir| (*dir).to_owned()).collect(),
        }
    }
}

/// The API key that agents get. The gateway replaces it.
pub(super) const DUMMY_KEY: &str = "sk-prowess-gateway";

/// The directory of skills that most agents search.
pub(super) const DEFAULT_SKILL_DIR: &str = ".agents/skills";

/// Returns settings of Codex, as `KEY=VALUE` with a value of TOML. Strings of JSON are strings of TOML, too.
fn codex_settings(gateway: &GatewayAddress) -> Vec<String> {
    let base = json!(format!("{}/v1", gateway.base_url()));
    let provider = [
        ("name", "\"gateway\"".to_owned()),
        ("base_url", base.to_string()),
        ("wire_api", "\"responses\"".to_owned()),
        ("env_key", "\"PROWESS_GATEWAY_KEY\"".to_owned()),
        ("request_max_retries", "2".to_owned()),
        ("stream_max_retries", "2".to_owned()),
    ];
    let mut settings = vec!["model_provider=\"gateway\"".to_owned()];
    settings.extend(provider.map(|(key, value)| format!("model_providers.gateway.{key}={value}")));
    settings.extend(["check_for_update_on_startup=false".to_owned(), "analytics.enabled=false".to_owned()]);
    settings
}

fn opencode_config(gateway: &GatewayAddress) -> serde_json::Value {
    let model = format!("gateway/{}", gateway.model);
    let options = json!({"baseURL": format!("{}/v1", gateway.base_url()), "apiKey": DUMMY_KEY});
    let limit = json!({"context": 200_000, "output": 32_000});
    json!({
        "autoupdate": false,
        "share": "disabled",
        "model": model,
        "small_model": model,
        "enabled_providers": ["gateway"],
        "permission": "allow",
        "provider": {
            "gateway": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "gateway",
                "options": options,
                "models": {&gateway.model: {"name": gateway.model, "tool_call": true, "limit": limit}},
            },
        },
    })
}
