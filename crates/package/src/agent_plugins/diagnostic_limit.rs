//! Limits the number of diagnostics about many files.

use prowess_format::Diagnostic;

use super::load::CheckedManifest;

/// A limit for errors and one for warnings, so that warnings do not hide errors.
pub(super) struct DiagnosticLimit {
    errors: usize,
    warnings: usize,
    omitted: usize,
}

impl DiagnosticLimit {
    pub(super) fn new(limit: usize) -> Self {
        Self { errors: limit, warnings: limit, omitted: 0 }
    }

    /// Returns `true` if a diagnostic is within the limit.
    pub(super) fn take(&mut self, diagnostic: &Diagnostic) -> bool {
        let left = if diagnostic.is_error() { &mut self.errors } else { &mut self.warnings };
        let is_within = *left > 0;
        *left = left.saturating_sub(1);
        self.omitted += usize::from(!is_within);
        is_within
    }

    /// Adds the number of those that were omitted to the last diagnostic.
    pub(super) fn report_omitted(&self, files: &mut [CheckedManifest]) {
        let last = files.iter_mut().rev().find_map(|file| file.diagnostics.last_mut());
        if let (Some(last), 1..) = (last, self.omitted) {
            last.message += &format!(" (and {} more problems in other files)", self.omitted);
        }
    }
}
