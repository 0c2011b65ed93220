//! Checks what other clients do with a skill.

use std::path::Path;

use prowess_format::dialects::{Client, SkillFile, check_fit};

use crate::FileDiagnostic;

/// Returns what the clients ignore, cut or refuse in a skill file.
pub(super) fn check_clients(clients: &[Client], path: &Path, file: &SkillFile<'_>) -> Vec<FileDiagnostic> {
    let diagnostics = clients.iter().flat_map(|client| check_fit(*client, file));
    diagnostics.map(|diagnostic| FileDiagnostic::new(path, diagnostic)).collect()
}
