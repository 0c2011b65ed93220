//! The files of a skill, from a folder or from the binary, to the audit.

use std::path::Path;

use prowess::bundled::{BUNDLED, Bundled};
use prowess::{Each, Skill, each_file};
use prowess_package::audit::{AuditFile, Auditor, LOOKED_AT, Verdict, audit};

use super::Audited;

/// Audits a skill that was found, whatever became of it.
pub(super) fn skill(skill: &Skill) -> Audited {
    let name = Some(skill.name().into_owned());
    if skill.root().is_embedded() {
        let files =
            BUNDLED.iter().find(|bundled| bundled.id == skill.id()).map_or(&[][..], |bundled| bundled.files);
        let files =
            files.iter().map(|(path, bytes)| AuditFile::new(path, Bundled::is_executable(path), bytes));
        return Audited { folder: skill.folder(), name, verdict: audit(files) };
    }
    if skill.is_outside() {
        let target = skill.link().map(|link| link.target.to_string_lossy().into_owned());
        let link = AuditFile::link(".", target.as_deref());
        return Audited { folder: skill.folder(), name, verdict: audit([link].into_iter()) };
    }
    Audited { folder: skill.folder(), name, verdict: verdict(&skill.canonical_folder()) }
}

/// Audits whatever lies in a folder.
pub(super) fn folder(folder: &Path, name: Option<String>) -> Audited {
    Audited { folder: folder.to_owned(), name, verdict: verdict(folder) }
}

fn verdict(folder: &Path) -> Verdict {
    let mut auditor = Auditor::default();
    each_file(folder, LOOKED_AT as u64 + 1, &mut |path, each| match each {
        Each::File { executable, bytes } => auditor.file(&AuditFile::new(path, executable, &bytes)),
        Each::Link(target) => auditor.file(&AuditFile::link(path, Some(&target.to_string_lossy()))),
        Each::Unread(why) => auditor.file(&AuditFile::unread(path, &why)),
    });
    auditor.verdict()
}
