//! Plugins for agents: packages of skills, MCP servers and other parts.
//!
//! | module | subject |
//! |---|---|
//! | `schema` | the formats: Agent Plugins 1.0.0, and that of clients |
//! | `manifest` | `plugin.json` |
//! | `mcp`, `server_rules` | the MCP servers of a plugin |
//! | `marketplace` | `marketplace.json`: plugins and where they come from |
//! | `name`, `path` | names, and paths inside a plugin |
//! | `load` | loads a plugin: its manifest, and the components at their places |
//! | `find` | finds the plugins of a source |
//! | `json` | strict JSON with locations |
//! | `diagnostic_limit` | limits the diagnostics about many files |
//! | `tree_view` | the files of a plugin |
//! | [`limits`] | the limits of all manifests |
//!
//! Invariants: parsing retrieves and runs nothing; a path in a manifest is an
//! [`InnerPath`](prowess_archive::InnerPath) below the plugin; symlinks are not followed; an invalid component is
//! reported and left out, and an invalid manifest rejects the plugin. `docs/plugins.md` lists the requirements of the
//! specification and their tests.

mod diagnostic_limit;
mod find;
mod json;
pub mod limits;
mod load;
mod manifest;
mod marketplace;
mod mcp;
mod name;
mod path;
mod schema;
mod server_rules;
mod tree_view;

#[cfg(test)]
mod tests;

pub use find::{FoundPlugins, find_plugins, has_manifest, load_all_plugins, load_entry};
pub use json::Parsed;
pub use load::{CheckedManifest, LoadedPlugin, PluginLoad, load_plugin};
pub use manifest::{Components, PluginManifest, PluginPart, parse_plugin_manifest};
pub use marketplace::{Marketplace, MarketplaceEntry, PluginSource, parse_marketplace};
pub use mcp::{McpServer, McpTransport, RemoteServer, StdioServer, parse_mcp_config};
pub use name::{PluginName, PluginNameError};
pub use path::{PluginPath, PluginPathError};
pub use schema::{MCP_SCHEMA, PLUGIN_SCHEMA, PluginFormat};
