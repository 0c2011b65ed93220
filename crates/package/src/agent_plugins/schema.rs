//! The formats of manifests, and the identifiers of their versions.

use jsonc_parser::ast::Object;
use prowess_format::Code;
use prowess_format::hidden::escape_and_truncate;

use super::json::{JsonFile, span};

/// The identifier of the format of `plugin.json` in Agent Plugins 1.0.0.
pub const PLUGIN_SCHEMA: &str = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json";

/// What the identifiers of all versions begin with.
const SCHEMAS: &str = "https://agent-plugins.org/schemas/";

/// The identifier of the format of `mcp.json` in Agent Plugins 1.0.0.
pub const MCP_SCHEMA: &str = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json";

prowess_format::named_enum! {
    /// The format of a manifest.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum PluginFormat {
        /// Agent Plugins 1.0.0.
        AgentPlugins = "agent-plugins",
        /// The format that Claude Code introduced and other clients read.
        Client = "client",
    }
}

/// Returns `true` if the bytes are a manifest that names a version of Agent Plugins.
pub(super) fn names_agent_plugins(bytes: &[u8]) -> bool {
    let (_, object) = JsonFile::parse(bytes);
    let schema = object.as_ref().and_then(|object| object.get_string("$schema"));
    schema.is_some_and(|schema| schema.value.starts_with(SCHEMAS))
}

/// Checks that `$schema` is the identifier of the supported version.
pub(super) fn check_schema(file: &mut JsonFile<'_>, object: &Object<'_>, expected: &str) -> bool {
    let help = format!("add the line \"$schema\": \"{expected}\"");
    let (at, message) = match object.get("$schema") {
        None => ((0, 1), "$schema is missing".to_owned()),
        Some(member) => match member.value.as_string_lit() {
            Some(schema) if schema.value == expected => return true,
            None => (span(&member.value), "$schema is not text".to_owned()),
            Some(schema) => {
                let version = schema.value.strip_prefix(SCHEMAS).and_then(|rest| rest.split('/').next());
                let message = match version {
                    Some(version) if !expected.contains(&format!("/{version}/")) => {
                        format!("version {} of Agent Plugins is not supported", escape_and_truncate(version))
                    }
                    Some(_) | None => {
                        let text = escape_and_truncate(&schema.value);
                        format!("$schema is not an identifier of Agent Plugins: {text}")
                    }
                };
                (span(&member.value), message)
            }
        },
    };
    file.error(Code::PluginSchema, at, message, &help);
    false
}
