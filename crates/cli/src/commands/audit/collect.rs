//! Audits the files of a skill, from a directory or from the binary.

use std::path::Path;

use prowess::bundled::BundledSkill;
use prowess::{Skill, VisitedEntry, visit_files};
use prowess_package::audit::{AuditFile, Auditor, SCAN_MAX, Verdict, audit};

use super::AuditedSkill;

/// Audits a discovered skill, regardless of its status.
pub(super) fn audit_skill(skill: &Skill) -> AuditedSkill {
    let name = Some(skill.name().into_owned());
    if skill.root().is_embedded() {
        let files = BundledSkill::find(&skill.id()).map_or(&[][..], |bundled| bundled.files);
        let files =
            files.iter().map(|(path, bytes)| AuditFile::new(path, BundledSkill::is_executable(path), bytes));
        return AuditedSkill { dir: skill.dir(), name, verdict: audit(files) };
    }
    if skill.is_outside_known_dirs() {
        let target = skill.link().map(|link| link.target.to_string_lossy().into_owned());
        let link = AuditFile::symlink(".", target.as_deref());
        return AuditedSkill { dir: skill.dir(), name, verdict: audit([link].into_iter()) };
    }
    if skill.is_command() {
        let path = skill.dir().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let verdict = match skill.read_skill_md() {
            Some(bytes) => audit([AuditFile::new(&path, false, &bytes)].into_iter()),
            None => audit([AuditFile::unread(&path, "cannot be read")].into_iter()),
        };
        return AuditedSkill { dir: skill.dir(), name, verdict };
    }
    AuditedSkill { dir: skill.dir(), name, verdict: audit_files(&skill.canonical_dir()) }
}

/// Audits the files of a directory.
pub(super) fn audit_dir(dir: &Path, name: Option<String>) -> AuditedSkill {
    AuditedSkill { dir: dir.to_owned(), name, verdict: audit_files(dir) }
}

fn audit_files(dir: &Path) -> Verdict {
    let mut auditor = Auditor::default();
    visit_files(dir, SCAN_MAX as u64 + 1, &mut |path, entry| match entry {
        VisitedEntry::File { executable, bytes } => auditor.add(&AuditFile::new(path, executable, &bytes)),
        VisitedEntry::Symlink(target) => {
            auditor.add(&AuditFile::symlink(path, Some(&target.to_string_lossy())))
        }
        VisitedEntry::Skipped(reason) => auditor.add(&AuditFile::unread(path, &reason)),
    });
    auditor.verdict()
}
