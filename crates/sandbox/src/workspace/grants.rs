//! Which directories a script may work in, and which files it may read.

use std::path::{Path, PathBuf};

use prowess::HostEnv;

use super::ScriptFilesError;
use crate::system_paths;

/// Resolves the directory that the user names as a workspace. Directories whose files other programs trust are refused: a
/// script that writes there could run code outside the sandbox.
///
/// ```
/// use prowess::HostEnv;
///
/// let env = HostEnv { project: "/".into(), home: None, path: Default::default() };
/// assert!(prowess_sandbox::check_workspace("/etc".as_ref(), &env).is_err());
/// ```
pub fn check_workspace(dir: &Path, env: &HostEnv) -> Result<PathBuf, ScriptFilesError> {
    let unreadable = |error| ScriptFilesError::Unreadable { path: dir.to_owned(), error };
    let resolved = std::fs::canonicalize(dir).map_err(unreadable)?;
    if !resolved.is_dir() {
        return Err(unreadable(std::io::ErrorKind::NotADirectory.into()));
    }
    let refused = |reason| Err(ScriptFilesError::Refused { path: dir.to_owned(), reason });
    if resolved.parent().is_none() || system_paths::is_protected(&resolved) {
        return refused("is a system directory");
    }
    if contains_temp_dir(&resolved) {
        return refused("contains the directory of temporary files");
    }
    let home = env.home.as_ref().and_then(|home| std::fs::canonicalize(home).ok());
    if let Some(home) = home {
        if home.starts_with(&resolved) {
            return refused("contains your home directory");
        }
        let is_hidden = |inner: &Path| inner.as_os_str().as_encoded_bytes().starts_with(b".");
        if resolved.strip_prefix(&home).is_ok_and(is_hidden) {
            return refused(
                "is in a hidden directory of your home directory, which holds settings of programs",
            );
        }
    }
    if program_dirs(env).iter().any(|dir| resolved.starts_with(dir)) {
        return refused("is in PATH: programs are started from it");
    }
    let is_settings = |name: &std::ffi::OsStr| name.to_str().is_some_and(is_protected_name);
    if resolved.iter().any(is_settings) {
        return refused("is in a directory that holds settings of programs");
    }
    Ok(resolved)
}

/// Returns `true` for a directory with the files of runs, which would be copied into themselves.
fn contains_temp_dir(dir: &Path) -> bool {
    let temp_dirs = [std::env::temp_dir(), PathBuf::from("/tmp")].into_iter();
    temp_dirs.filter_map(|temp| std::fs::canonicalize(temp).ok()).any(|temp| temp.starts_with(dir))
}

/// Returns the directories from which the user starts programs by name, resolved.
pub(super) fn program_dirs(env: &HostEnv) -> Vec<PathBuf> {
    let dirs = std::env::split_paths(&env.path).filter(|dir| dir.is_absolute());
    dirs.filter_map(|dir| std::fs::canonicalize(dir).ok()).collect()
}

/// Resolves the paths that the user lets a script read. Paths inside the workspace and the system directories need
/// no grant.
pub(crate) fn resolve_read_grants(
    paths: &[PathBuf],
    workspace: Option<&Path>,
) -> Result<Vec<PathBuf>, ScriptFilesError> {
    let mut resolved = Vec::new();
    for path in paths {
        let target = std::fs::canonicalize(path)
            .map_err(|error| ScriptFilesError::Unreadable { path: path.clone(), error })?;
        let is_covered = system_paths::is_system(&target)
            || workspace.is_some_and(|workspace| target.starts_with(workspace))
            || resolved.iter().any(|other: &PathBuf| target.starts_with(other));
        let refused = |reason| Err(ScriptFilesError::Refused { path: path.clone(), reason });
        if target.parent().is_none() {
            return refused("is the root directory");
        }
        if contains_temp_dir(&target) {
            return refused("contains the directory of temporary files");
        }
        if !is_covered {
            resolved.retain(|other| !other.starts_with(&target));
            resolved.push(target);
        }
    }
    Ok(resolved)
}

/// Directories that hold settings and hooks of version control, editors, build tools and agents. Programs run code from
/// them.
const PROTECTED_DIRS: &[&str] = &[
    ".agent",
    ".agents",
    ".cargo",
    ".circleci",
    ".claude",
    ".clinerules",
    ".codex",
    ".continue",
    ".cursor",
    ".devcontainer",
    ".direnv",
    ".emacs.d",
    ".gemini",
    ".git",
    ".github",
    ".hg",
    ".husky",
    ".idea",
    ".jj",
    ".kiro",
    ".mise",
    ".mvn",
    ".nvim",
    ".opencode",
    ".prowess",
    ".qwen",
    ".roo",
    ".ssh",
    ".svn",
    ".venv",
    ".vim",
    ".vs",
    ".vscode",
    ".windsurf",
    ".yarn",
    ".zed",
];

/// Files that shells, editors, debuggers, package managers and agents read, and that can start programs.
const PROTECTED_FILES: &[&str] = &[
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".bazelrc",
    ".bunfig.toml",
    ".dir-locals.el",
    ".emacs",
    ".envrc",
    ".exrc",
    ".gdbinit",
    ".gitattributes",
    ".gitconfig",
    ".gitlab-ci.yml",
    ".gitmodules",
    ".inputrc",
    ".lldbinit",
    ".mcp.json",
    ".mise.local.toml",
    ".mise.toml",
    ".netrc",
    ".npmrc",
    ".nvim.lua",
    ".nvimrc",
    ".pnp.cjs",
    ".pnp.loader.mjs",
    ".pnpmfile.cjs",
    ".pre-commit-config.yaml",
    ".profile",
    ".pypirc",
    ".tmux.conf",
    ".tool-versions",
    ".vimrc",
    ".xinitrc",
    ".xprofile",
    ".yarnrc",
    ".yarnrc.yml",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "bunfig.toml",
    "mise.local.toml",
    "mise.toml",
];

/// Returns `true` for names of files and directories in which changes of a script are not kept. Case is ignored, because
/// some file systems ignore it, also that of letters such as the Kelvin sign, which is another K.
pub(super) fn is_protected_name(name: &str) -> bool {
    let folded = name.to_uppercase().to_lowercase();
    PROTECTED_DIRS.iter().chain(PROTECTED_FILES).any(|listed| *listed == folded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn directories_with_settings_are_no_workspaces() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        let home = base.join("home");
        for dir in ["home/work/.git/hooks", "home/.config/x", "home/work/.Claude", "home/a", "home/bin/x"] {
            fs::create_dir_all(base.join(dir)).unwrap();
        }
        fs::write(base.join("home/file"), "").unwrap();
        std::os::unix::fs::symlink("/usr", base.join("home/link")).unwrap();
        let path = std::env::join_paths([home.join("bin"), ".".into(), home.join("work/tools")]).unwrap();
        let env = HostEnv { project: base.clone(), home: Some(home.clone()), path };
        let result = |dir: &Path| {
            check_workspace(dir, &env).map_or_else(
                |error| error.to_string().replace(&base.display().to_string(), ""),
                |_| "ok".into(),
            )
        };
        let results: Vec<_> = [
            home.join("work"),
            home.join("a"),
            home.join("work/.git/hooks"),
            home.join("work/.Claude"),
            home.join(".config/x"),
            home.clone(),
            base.clone(),
            "/".into(),
            "/etc".into(),
            home.join("link"),
            home.join("file"),
            home.join("absent"),
            home.join("bin"),
            home.join("bin/x"),
        ]
        .iter()
        .map(|dir| result(dir))
        .collect();
        insta::assert_snapshot!(results.join("\n"), @r"
        ok
        ok
        cannot use /home/work/.git/hooks as a workspace: it is in a directory that holds settings of programs
        cannot use /home/work/.Claude as a workspace: it is in a directory that holds settings of programs
        cannot use /home/.config/x as a workspace: it is in a hidden directory of your home directory, which holds settings of programs
        cannot use /home as a workspace: it contains your home directory
        cannot use  as a workspace: it contains your home directory
        cannot use / as a workspace: it is a system directory
        cannot use /etc as a workspace: it is a system directory
        cannot use /home/link as a workspace: it is a system directory
        cannot read /home/file: not a directory
        cannot read /home/absent: No such file or directory (os error 2)
        cannot use /home/bin as a workspace: it is in PATH: programs are started from it
        cannot use /home/bin/x as a workspace: it is in PATH: programs are started from it
        ");
        assert!([".GIT", ".hus\u{212a}y", ".z\u{17f}hrc"].iter().all(|name| is_protected_name(name)));
        assert!(!["git", ".gitignore", "config"].iter().any(|name| is_protected_name(name)));
    }

    #[test]
    fn nested_grants_are_merged() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        fs::create_dir_all(base.join("a/b")).unwrap();
        fs::create_dir_all(base.join("w/c")).unwrap();
        let paths = |names: &[&str]| names.iter().map(|name| base.join(name)).collect::<Vec<_>>();
        let resolved =
            resolve_read_grants(&paths(&["a/b", "a", "w/c", "a/b"]), Some(&base.join("w"))).unwrap();
        assert_eq!(resolved, paths(&["a"]));
        assert!(resolve_read_grants(&paths(&["absent"]), None).is_err());
        assert!(resolve_read_grants(&["/".into()], None).is_err());
        assert!(resolve_read_grants(&["/tmp".into()], None).is_err());
        let env = HostEnv { project: base, home: None, path: Default::default() };
        let errors =
            [std::env::temp_dir(), "/tmp".into()].map(|dir| check_workspace(&dir, &env).unwrap_err());
        assert!(errors.iter().all(|error| error.to_string().contains("temporary files")), "{errors:?}");
    }
}
