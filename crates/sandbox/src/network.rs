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
    /// Only TCP connections to this port of 127.0.0.1, where a gateway of this process listens. In tier 1, the program has a
    /// network of its own, in which it may also listen; connections to the port are forwarded. In tier 2, this is
    /// [`Self::ProxyPort`], which restricts the port but not the host.
    Gateway(u16),
}
