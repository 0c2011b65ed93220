//! Finds a program of the user and the files that it needs in the sandbox.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use prowess::HostEnv;
use prowess::format::hidden::escape_for_display;

use super::interpreter::{self, Runner};
use super::locate::{self, LocateError};
use super::prepare::PATH;
use super::sandbox::{others_can_access, unused_user};
use super::system_paths::is_system;

/// How many bytes of a file are read to find out how to run it.
const START_BYTES: u64 = 512;

/// A program of the user, and what it needs in the sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocatedProgram {
    /// The file to execute: the program, or its interpreter.
    pub program: PathBuf,
    /// The arguments before those of the caller: options of the interpreter, and the script.
    pub arguments: Vec<String>,
    /// The paths that it needs besides the system directories.
    pub readable: Vec<PathBuf>,
    /// `PATH` for the program, which starts with the directory of its interpreter.
    pub path: OsString,
}

/// Why a program cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LocateProgramError {
    /// The program was not found.
    #[error("{program} is not in PATH")]
    NotInPath {
        /// The program, escaped.
        program: String,
    },
    /// The file is not a program.
    #[error("{program} is not an executable file")]
    NotExecutable {
        /// The program, escaped.
        program: String,
    },
    /// The program is not accessible to the user that runs programs.
    #[error("{program} is only accessible to root, and programs in the sandbox never run as root")]
    NotAccessible {
        /// The program, escaped.
        program: String,
    },
    /// The interpreter of a script is not available.
    #[error("{program} needs {interpreter}, which {reason}")]
    Interpreter {
        /// The program, escaped.
        program: String,
        /// The interpreter, escaped.
        interpreter: String,
        /// The reason.
        reason: &'static str,
    },
}

/// Finds a program by name in `PATH`, or by a path with a slash. What it needs: the file itself, the outermost `node_modules`
/// directory above it, its virtual environment, and the interpreter of its `#!` line with its libraries.
pub fn locate_program(name: &str, env: &HostEnv) -> Result<LocatedProgram, LocateProgramError> {
    let program = || escape_for_display(name).into_owned();
    // Without a user, the sandbox reports its own error.
    let user = unused_user().ok().flatten();
    let candidates: Vec<PathBuf> = match name.contains('/') {
        true => vec![env.project.join(name)],
        false => prowess_fs::programs_on_path(name, &env.path).collect(),
    };
    let mut error = LocateProgramError::NotInPath { program: program() };
    for file in candidates {
        let Ok(real) = std::fs::canonicalize(&file) else { continue };
        if !real.is_file() || !prowess_fs::can_execute(&real) {
            error = LocateProgramError::NotExecutable { program: program() };
        } else if user.is_some() && !others_can_access(&real) {
            error = LocateProgramError::NotAccessible { program: program() };
        } else {
            match resolve(&file, &real, env, user) {
                Ok(located) => return Ok(located),
                Err((interpreter, reason)) => {
                    let interpreter = escape_for_display(&interpreter).into_owned();
                    error = LocateProgramError::Interpreter {
                        program: program(),
                        interpreter,
                        reason: reason.reason(),
                    };
                }
            }
        }
    }
    Err(error)
}

/// Returns how to run a file; the name of the missing interpreter on failure.
fn resolve(
    file: &Path,
    real: &Path,
    env: &HostEnv,
    user: Option<u32>,
) -> Result<LocatedProgram, (String, LocateError)> {
    let start = read_start(real);
    let mut readable = package_paths(real);
    let runner = interpreter::detect_runner("", &start);
    let Ok(Runner::Interpreter { names, arguments: options }) = runner else {
        let program = if is_system(file) && is_system(real) { file } else { real };
        let path = path_with(program.parent());
        return Ok(LocatedProgram { program: program.to_owned(), arguments: Vec::new(), readable, path });
    };
    let mut arguments = options;
    arguments.push(real.display().to_string());
    if let Some(python) = virtual_environment(&start) {
        let mut libraries = environment_paths(&python, env);
        readable.append(&mut libraries);
        let path = path_with(python.parent());
        return Ok(LocatedProgram { program: python, arguments, readable, path });
    }
    let mut error = LocateError::NotInPath;
    for name in &names {
        match locate::locate(name, &env.path, env.home.as_deref(), user) {
            Ok(located) => {
                readable.extend(located.readable);
                let path = path_with(located.program.parent());
                return Ok(LocatedProgram { program: located.program, arguments, readable, path });
            }
            Err(LocateError::NotInPath) => {}
            Err(other) => error = other,
        }
    }
    Err((names.into_iter().next().unwrap_or_default(), error))
}

/// Returns the start of a file.
fn read_start(path: &Path) -> Vec<u8> {
    use std::io::Read;
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(START_BYTES).read_to_end(&mut bytes));
    // A file that cannot be read is run like a program, which reports the error.
    if read.is_err() {
        bytes.clear();
    }
    bytes
}

/// Returns the file, or the outermost `node_modules` directory above it, which has the packages that it depends on.
fn package_paths(real: &Path) -> Vec<PathBuf> {
    let packages = real.ancestors().filter(|dir| dir.ends_with("node_modules")).last();
    let path = packages.unwrap_or(real);
    if is_system(path) { Vec::new() } else { vec![path.to_owned()] }
}

/// Returns the interpreter of a `#!` line if it belongs to a virtual environment of Python.
fn virtual_environment(start: &[u8]) -> Option<PathBuf> {
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let python = PathBuf::from(std::str::from_utf8(line).ok()?.split_whitespace().next()?);
    let root = python.parent()?.parent()?;
    (python.is_absolute() && root.join("pyvenv.cfg").is_file()).then_some(python)
}

/// Returns the virtual environment and the files of the interpreter that it links to.
fn environment_paths(python: &Path, env: &HostEnv) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        python.parent().and_then(Path::parent).map(Path::to_owned).into_iter().collect();
    if let Ok(real) = std::fs::canonicalize(python)
        && !is_system(&real)
    {
        paths.extend(locate::program_and_libraries(&real, env.home.as_deref()));
    }
    paths
}

/// Returns `PATH` with a directory before the usual ones.
fn path_with(dir: Option<&Path>) -> OsString {
    let usual = PATH.split(':').map(Path::new);
    let first = dir.filter(|dir| !usual.clone().any(|included| *dir == included));
    std::env::join_paths(first.into_iter().chain(usual)).unwrap_or_else(|_| PATH.into())
}
