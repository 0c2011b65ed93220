//! What servers have in common: the token that clients show, and what is said at the start.

use std::collections::BTreeMap;
use std::path::Path;

use prowess::registry::Shadowed;
use prowess::{Snapshot, Status};
use prowess_mcp::http::Token;

use crate::failure::Failure;
use crate::output::{Output, Tone, clean_path, counted};

/// The longest token file.
const TOKEN_MAX: u64 = 4096;

/// What to do where others could reach a server that knows nobody.
pub(super) const OPEN: &str = "set PROWESS_TOKEN or --token-file, or serve at 127.0.0.1";

/// The token in a file, or else in a variable.
pub(super) fn token(
    file: Option<&Path>,
    variable: Option<&str>,
    output: &mut Output,
) -> Result<Option<Token>, Failure> {
    let text = match file {
        Some(file) => {
            if is_readable_by_others(file) {
                let path = clean_path(file);
                output.remark_in(
                    Tone::Caution,
                    &format!("warning: other users can read the token in {path}; run chmod 600 {path}"),
                );
            }
            let bytes = prowess::read_bounded(file, TOKEN_MAX).ok_or_else(|| {
                Failure::call(format!("the token cannot be read from {}", clean_path(file)))
            })?;
            Some(String::from_utf8_lossy(&bytes).trim().to_owned())
        }
        None => variable.and_then(|name| std::env::var(name).ok()).filter(|token| !token.is_empty()),
    };
    let made = text.map(|text| Token::new(&text)).transpose();
    made.map_err(|error| Failure::call(error.to_string()).hint("make one: openssl rand -hex 32"))
}

fn is_readable_by_others(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|metadata| prowess_fs::permissions(&metadata) & 0o044 != 0)
}

/// How many skills were found and are not offered, by reason; `None` where there are none. Those that the user switched off or
/// whose commands are not installed are not counted: they are no surprise at every start.
pub(super) fn not_available(snapshot: &Snapshot) -> Option<String> {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for skill in snapshot.all() {
        match skill.status() {
            Status::Enabled | Status::Disabled(_) | Status::Unavailable(_) => continue,
            // The same folder by another path is the same skill.
            Status::Shadowed(Shadowed { same_folder: true, .. }) => continue,
            status @ (Status::Untrusted(_) | Status::Modified(_) | Status::Shadowed(_) | Status::Invalid) => {
                *reasons.entry(status.as_str()).or_default() += 1
            }
        }
    }
    let all: usize = reasons.values().sum();
    let reasons: Vec<String> = reasons.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    (all > 0).then(|| {
        let are = if all == 1 { "is" } else { "are" };
        let skills = counted(all, "skill");
        format!("{skills} {are} not available: {}; run prowess list --all", reasons.join(", "))
    })
}
