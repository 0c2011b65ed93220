//! The network access of a script.

use serde::{Deserialize, Serialize};

/// Whether a script has network access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum NetworkAccess {
    /// No network access.
    Off,
    /// Network access.
    On,
    /// Only TCP connections to this port, where a proxy of this process listens. Requires Landlock ABI 4. Scripts never get
    /// this access; programs that build environments do.
    ProxyPort(u16),
}
