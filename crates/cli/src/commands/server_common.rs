//! Shared parts of the HTTP and MCP servers: access tokens and the startup message.

use std::collections::BTreeMap;
use std::path::Path;

use prowess::registry::ShadowedBy;
use prowess::{SkillStatus, Snapshot};
use prowess_mcp::http::AccessToken;

use crate::failure::Failure;
use crate::output::{Output, TextStyle, clean_path, pluralize};

/// The maximum size of a token file.
const TOKEN_MAX: u64 = 4096;

/// The hint for a non-loopback address without authentication.
pub(super) const OPEN_ADDRESS_HINT: &str = "set PROWESS_TOKEN or pass --token-file, or listen on 127.0.0.1";

/// Reads the token from a file or, if none is given, from an environment variable.
pub(super) fn read_token(
    file: Option<&Path>,
    variable: Option<&str>,
    output: &mut Output,
) -> Result<Option<AccessToken>, Failure> {
    let text = match file {
        Some(file) => {
            if is_readable_by_others(file) {
                let path = clean_path(file);
                output.styled_note(
                    TextStyle::Caution,
                    &format!(
                        "warning: other users can read the token in {path}; to fix it: chmod 600 {path}"
                    ),
                );
            }
            let bytes = prowess::read_bounded(file, TOKEN_MAX)
                .ok_or_else(|| Failure::usage(format!("cannot read the token from {}", clean_path(file))))?;
            Some(String::from_utf8_lossy(&bytes).trim().to_owned())
        }
        None => variable.and_then(|name| std::env::var(name).ok()).filter(|token| !token.is_empty()),
    };
    let parsed = text.map(|text| AccessToken::parse(&text)).transpose();
    parsed.map_err(|error| Failure::usage(error.to_string()).hint("generate a token: openssl rand -hex 32"))
}

fn is_readable_by_others(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|metadata| prowess_fs::permissions(&metadata) & 0o044 != 0)
}

/// Returns the number of skills that are not available, by status, or `None` if there are none. Disabled skills and skills
/// with missing commands are not counted, because they are expected.
pub(super) fn unavailable_summary(snapshot: &Snapshot) -> Option<String> {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for skill in snapshot.all() {
        match skill.status() {
            SkillStatus::Enabled | SkillStatus::Disabled(_) | SkillStatus::Unavailable(_) => continue,
            // The same directory by another path is the same skill.
            SkillStatus::Shadowed(ShadowedBy { same_dir: true, .. }) => continue,
            status @ (SkillStatus::Untrusted(_)
            | SkillStatus::Modified(_)
            | SkillStatus::Shadowed(_)
            | SkillStatus::Invalid) => *reasons.entry(status.as_str()).or_default() += 1,
        }
    }
    let total: usize = reasons.values().sum();
    let reasons: Vec<String> = reasons.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    (total > 0).then(|| {
        let verb = if total == 1 { "is" } else { "are" };
        let skills = pluralize(total, "skill");
        format!("{skills} {verb} not available ({}); run `prowess list --all` to see why", reasons.join(", "))
    })
}
