//! The limits for manifests. They apply to every file of a plugin or marketplace that Prowess interprets.

/// The maximum size of a manifest in bytes.
pub const MANIFEST_MAX: usize = 1024 * 1024;

/// The maximum number of JSON values in a manifest.
pub const NODES_MAX: usize = 50_000;

/// The maximum depth of JSON values in a manifest.
pub const DEPTH_MAX: usize = 32;

/// The maximum number of errors, and of warnings, about a manifest, and about all files of a plugin.
pub const DIAGNOSTICS_MAX: usize = 50;

/// The maximum number of errors, and of warnings, about all plugins of a marketplace.
pub const ALL_DIAGNOSTICS_MAX: usize = 1_000;

/// The maximum number of plugins in a marketplace.
pub const PLUGINS_MAX: usize = 4_096;

/// The maximum number of paths in a field of a manifest.
pub const PATHS_MAX: usize = 1_024;

/// The maximum number of MCP servers of a plugin.
pub const SERVERS_MAX: usize = 64;

/// The maximum number of plugins of a marketplace that are read at once.
pub const LOADS_MAX: usize = 512;

/// The number of bytes of manifests, and of names in directories of skills, after which no more plugins of a marketplace
/// are read. Many entries may name the same files.
pub const LOADED_BYTES_MAX: usize = 64 * 1024 * 1024;
