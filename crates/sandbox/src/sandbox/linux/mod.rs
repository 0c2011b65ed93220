//! The sandboxes of Linux: bubblewrap with the helper inside, or the helper alone.

mod forward;
mod process;
mod user;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Command, Stdio};
use std::time::Duration;

use rustix::fs::{MemfdFlags, SealFlags, SeekFrom};

use forward::PortForwarder;
pub use process::{Enforced, SandboxedProcess};
pub(crate) use user::{others_can_access, scratch_parent, unused_user};

use super::{CopyLocation, Sandbox, SandboxError, SandboxTask, SandboxTier, ScratchLocation};
use crate::options::{InputSource, NetworkAccess, SandboxHelper, ScriptInput};
use crate::system_paths;
use crate::wire::{
    HELPER_ARG, HelperLaunch, HelperMessage, LAUNCH_ROLE, LaunchMode, NameableFiles, Rlimits, SandboxOrder,
    SignalIsolation, receive, receive_fd, send, send_fd,
};

/// Paths of bubblewrap. It is not looked up in `PATH`, which could lead to another program.
const BUBBLEWRAP_PATHS: &[&str] =
    &["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap"];

/// How long the preparation may take.
const READY_TIMEOUT: Duration = Duration::from_secs(20);

/// Returns the path of bubblewrap, if it is installed.
pub(super) fn find_bubblewrap() -> Option<PathBuf> {
    BUBBLEWRAP_PATHS.iter().map(PathBuf::from).find(|path| path.is_file())
}

struct BubblewrapSandbox {
    helper: SandboxHelper,
}

struct HelperSandbox {
    helper: SandboxHelper,
    confined: bool,
}

pub(super) fn backends(helper: &SandboxHelper) -> Vec<Box<dyn Sandbox>> {
    vec![
        Box::new(BubblewrapSandbox { helper: helper.clone() }),
        Box::new(HelperSandbox { helper: helper.clone(), confined: true }),
    ]
}

pub(super) fn unprotected(helper: &SandboxHelper) -> Box<dyn Sandbox> {
    Box::new(HelperSandbox { helper: helper.clone(), confined: false })
}

impl Sandbox for BubblewrapSandbox {
    fn tier(&self) -> SandboxTier {
        SandboxTier::Tier1
    }

    fn enforce(&self, task: &SandboxTask<'_>) -> Result<Enforced, SandboxError> {
        let failed = |reason: &dyn std::fmt::Display| SandboxError::new(SandboxTier::Tier1, reason);
        let program = find_bubblewrap().ok_or_else(|| failed(&"bubblewrap is not installed"))?;
        let mut features = BubblewrapFeatures { disable_userns: true, size: true };
        loop {
            match self.start(task, &program, features) {
                // Older versions lack these options. Without --disable-userns, seccomp still denies namespaces; without
                // --size, the files in the scratch directory are measured, and there is no shared memory.
                Err(error) if features.disable_userns && error.reason.contains(DISABLE_USERNS) => {
                    features.disable_userns = false;
                }
                Err(error) if features.size && error.reason.contains(SIZE) => features.size = false,
                other => return other,
            }
        }
    }
}

/// Options of bubblewrap that older versions lack.
#[derive(Debug, Clone, Copy)]
struct BubblewrapFeatures {
    /// [`DISABLE_USERNS`], since 0.8.
    disable_userns: bool,
    /// [`SIZE`], since 0.7.
    size: bool,
}

/// The scratch directory inside a namespace.
const TMP: &str = "/tmp";

/// The directory of named semaphores and shared memory inside a namespace.
const SHM: &str = "/dev/shm";

const DISABLE_USERNS: &str = "--disable-userns";
const SIZE: &str = "--size";

/// How much larger the scratch file system is than its limit, so that a script is killed for exceeding the limit instead
/// of running out of space between two measurements.
const SCRATCH_MARGIN: u64 = 64 * 1024 * 1024;

impl BubblewrapSandbox {
    fn start(
        &self,
        task: &SandboxTask<'_>,
        program: &Path,
        features: BubblewrapFeatures,
    ) -> Result<Enforced, SandboxError> {
        let mode = LaunchMode::Bubblewrap {
            program: program.to_owned(),
            arguments: bubblewrap_arguments(task, features),
        };
        let mut order =
            build_order(task, SignalIsolation::Namespace, CopyLocation::UserPath, namespace_scratch(task));
        if features.size {
            order.private_dirs = vec![namespace_scratch(task).to_owned(), SHM.into()];
            order.writable.push(SHM.into());
        }
        order.readable.push("/proc".into());
        launch_helper(&self.helper, HelperLaunch { user: task.user, mode }, &order, task, SandboxTier::Tier1)
    }
}

impl Sandbox for HelperSandbox {
    fn tier(&self) -> SandboxTier {
        if self.confined { SandboxTier::Tier2 } else { SandboxTier::None }
    }

    fn enforce(&self, task: &SandboxTask<'_>) -> Result<Enforced, SandboxError> {
        let mut order = build_order(
            task,
            if self.helper.deny_signals { SignalIsolation::Denied } else { SignalIsolation::Scoped },
            CopyLocation::CopyPath,
            task.scratch,
        );
        order.nameable = nameable_files(task, &order.readable);
        order.readable.extend(system_paths::machine_files());
        order.confined = self.confined;
        if let NetworkAccess::Gateway(port) = task.network {
            order.network = NetworkAccess::ProxyPort(port);
        }
        launch_helper(
            &self.helper,
            HelperLaunch { user: task.user, mode: LaunchMode::Watch },
            &order,
            task,
            self.tier(),
        )
    }
}

/// Returns the arguments of bubblewrap: everything is removed, and only a few paths are added.
fn bubblewrap_arguments(task: &SandboxTask<'_>, features: BubblewrapFeatures) -> Vec<String> {
    let mut arguments: Vec<String> = Vec::new();
    let mut add = |parts: &[&str]| arguments.extend(parts.iter().map(|part| (*part).to_owned()));
    add(&["--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--as-pid-1"]);
    if features.disable_userns {
        add(&[DISABLE_USERNS]);
    }
    add(&["--cap-drop", "ALL", "--clearenv", "--hostname", "sandbox"]);
    match task.network {
        NetworkAccess::On | NetworkAccess::ProxyPort(_) => add(&["--share-net"]),
        NetworkAccess::Off | NetworkAccess::Gateway(_) => {}
    }
    for path in system_paths::system_paths(task.network == NetworkAccess::On) {
        let text = path.to_string_lossy();
        match std::fs::read_link(&path) {
            // In some distributions, /bin is a symlink to usr/bin.
            Ok(target) if target.is_relative() && path.parent() == Some(Path::new("/")) => {
                add(&["--symlink", &target.to_string_lossy(), &text]);
            }
            _ => add(&["--ro-bind-try", &text, &text]),
        }
    }
    add(&["--proc", "/proc", "--dev", "/dev"]);
    // Before the other paths, some of which may be below it.
    let scratch = namespace_scratch(task).to_string_lossy();
    if scratch != TMP {
        add(&["--tmpfs", TMP]);
    }
    if features.size {
        // The kernel limits the size and knows the usage, which the script cannot hide.
        let size = task.limits.scratch_bytes.saturating_add(SCRATCH_MARGIN).to_string();
        for dir in [&*scratch, SHM] {
            add(&["--perms", "0700", SIZE, &size, "--tmpfs", dir]);
        }
        let settings = Path::new(&*scratch).join(system_paths::SETTINGS_DIR);
        add(&["--perms", "0700", "--dir", &settings.to_string_lossy()]);
    } else {
        add(&["--bind", &task.scratch.to_string_lossy(), &scratch]);
    }
    if features.size {
        // Without this, a file that is written beside a granted one would be lost without an error.
        for parent in parents_in_private_dirs(task, &[Path::new(&*scratch), Path::new(SHM)]) {
            add(&["--perms", "0555", "--dir", &parent.to_string_lossy()]);
        }
    }
    for path in task.readable.iter().map(PathBuf::as_path).chain([task.skill]) {
        let text = path.to_string_lossy();
        add(&["--ro-bind", &text, &text]);
    }
    // The workspace last, because it may be inside a directory that is read-only.
    for copy in task.copies.iter().rev() {
        let bind = if copy.writable { "--bind" } else { "--ro-bind" };
        let (copied, path) =
            (copy.copy.to_string_lossy(), copy.inside(CopyLocation::UserPath).to_string_lossy());
        add(&[bind, &copied, &path]);
    }
    let directory = task.directory(CopyLocation::UserPath).to_string_lossy();
    add(&["--remount-ro", "/", "--chdir", &directory]);
    arguments
}

/// Returns the scratch directory as a script in a namespace sees it.
fn namespace_scratch<'t>(task: &'t SandboxTask<'_>) -> &'t Path {
    match task.scratch_location {
        ScratchLocation::Tmp => Path::new(TMP),
        ScratchLocation::Unchanged => task.scratch,
    }
}

/// Returns the directories above granted paths that are created in private directories, the outermost first.
fn parents_in_private_dirs<'t>(task: &'t SandboxTask<'_>, private: &[&Path]) -> BTreeSet<&'t Path> {
    let copies = task.copies.iter().map(|copy| copy.inside(CopyLocation::UserPath));
    let paths = task.readable.iter().map(PathBuf::as_path).chain([task.skill]).chain(copies);
    let is_private = |path: &&Path| private.iter().any(|dir| path.starts_with(dir) && path != dir);
    paths.flat_map(|path| path.ancestors().skip(1)).filter(is_private).collect()
}

/// Returns the order for the helper. `scratch` is the scratch directory as the script sees it.
fn build_order(
    task: &SandboxTask<'_>,
    signals: SignalIsolation,
    copies: CopyLocation,
    scratch: &Path,
) -> SandboxOrder {
    let mut readable = system_paths::system_paths(task.network == NetworkAccess::On);
    readable.extend(task.readable.iter().cloned());
    readable.push(task.skill.to_owned());
    let mut writable = vec![scratch.to_owned()];
    for copy in task.copies {
        let list = if copy.writable { &mut writable } else { &mut readable };
        list.push(copy.inside(copies).to_owned());
    }
    let home = scratch.as_os_str().to_owned().into_vec();
    let settings = scratch.join(system_paths::SETTINGS_DIR).into_os_string().into_vec();
    let directories = [("HOME", home.clone()), ("TMPDIR", home), ("XDG_CONFIG_HOME", settings)];
    let mut environment: Vec<_> = directories.map(|(name, path)| (name.to_owned(), path)).to_vec();
    environment.extend(task.environment.iter().map(|(name, value)| (name.clone(), value.clone().into_vec())));
    SandboxOrder {
        program: task.program.clone(),
        arguments: task.arguments_at(copies),
        environment,
        directory: task.directory(copies).to_owned(),
        readable,
        writable,
        devices: system_paths::DEVICES.iter().map(PathBuf::from).collect(),
        limits: Rlimits {
            memory: task.limits.memory_bytes,
            processes: u64::from(task.limits.processes),
            file: task.limits.file_bytes,
            open_files: u64::from(task.limits.open_files),
        },
        private_dirs: Vec::new(),
        network: task.network,
        confined: true,
        signals,
        nameable: NameableFiles::Nothing,
    }
}

/// Returns which files the script can name in system calls, although it cannot open them. Without a mount namespace, all
/// paths are visible, and Landlock does not protect the modes, times and attributes of files; seccomp does.
fn nameable_files(task: &SandboxTask<'_>, readable: &[PathBuf]) -> NameableFiles {
    use std::os::unix::fs::MetadataExt;
    if task.user.is_some() {
        return NameableFiles::Others;
    }
    let uid = rustix::process::geteuid().as_raw();
    let is_own = |path: &&PathBuf| path.metadata().is_ok_and(|metadata| metadata.uid() == uid);
    // The files of the run are not files of the user.
    let is_of_run = |path: &PathBuf| task.skill.parent().is_some_and(|dir| path.starts_with(dir));
    if readable.iter().filter(|path| !is_of_run(path)).any(|path| is_own(&path)) {
        NameableFiles::OwnPrograms
    } else {
        NameableFiles::OwnFiles
    }
}

/// Starts the helper and waits until it reports that everything is enforced.
fn launch_helper(
    helper: &SandboxHelper,
    launch: HelperLaunch,
    order: &SandboxOrder,
    task: &SandboxTask<'_>,
    tier: SandboxTier,
) -> Result<Enforced, SandboxError> {
    let failed = |reason: &dyn std::fmt::Display| SandboxError::new(tier, reason);
    let path = helper.path().map_err(|reason| failed(&reason))?;
    let (socket, helper_socket) = UnixStream::pair().map_err(|error| failed(&error))?;
    let (input, pipe) = open_input(&task.input).map_err(|error| failed(&error))?;
    let mut child = Command::new(path)
        .args([HELPER_ARG, LAUNCH_ROLE])
        .env_clear()
        .current_dir("/")
        .stdin(OwnedFd::from(helper_socket))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(&format_args!("cannot start the helper: {error}")))?;
    let answer = exchange(&socket, &launch, order, &input);
    let result = match answer {
        Ok((HelperMessage::Enforced { .. }, sent)) if sent.dirs.len() != order.private_dirs.len() => {
            Err("the helper did not send the scratch directory".to_owned())
        }
        Ok((HelperMessage::Enforced { landlock }, sent)) => match start_forwarder(order, sent.listener) {
            Ok(forwarder) => Ok((landlock, sent.dirs, forwarder)),
            Err(error) => Err(format!("cannot forward connections: {error}")),
        },
        Ok((HelperMessage::Refused(reason) | HelperMessage::NotStarted(reason), _)) => Err(reason),
        Ok((HelperMessage::Exited { .. } | HelperMessage::PrivateDir | HelperMessage::Listener, _)) => {
            Err("the helper exited".to_owned())
        }
        Err(_) => Err(String::new()),
    };
    match (result, child.stdout.take(), child.stderr.take()) {
        (Ok((landlock, private_dirs, forwarder)), Some(stdout), Some(stderr)) => {
            let control = File::from(OwnedFd::from(socket));
            Ok(Enforced {
                landlock,
                process: SandboxedProcess {
                    tier,
                    child,
                    control: Some(control),
                    stdout: Some(stdout),
                    stderr: Some(stderr),
                    input: pipe,
                    private_dirs,
                    forwarder,
                    unsent: Vec::new(),
                    ended: false,
                },
            })
        }
        (result, _, stderr) => {
            drop(socket);
            // No part of the script has run yet; only the helper is left.
            let _ = child.kill();
            let message = stderr.map(first_line).unwrap_or_default();
            let _ = child.wait();
            let reason = result.err().filter(|reason| !reason.is_empty()).unwrap_or_default();
            let reason =
                [reason, message].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
            Err(failed(&if reason.is_empty() { "the helper did not respond".to_owned() } else { reason }))
        }
    }
}

/// Descriptors that the helper sends.
#[derive(Default)]
struct SentDescriptors {
    /// The directories that are file systems of their own.
    dirs: Vec<OwnedFd>,
    /// The socket that listens in the network of the program.
    listener: Option<OwnedFd>,
}

/// Starts to forward connections, if the program has a network of its own with a gateway.
fn start_forwarder(order: &SandboxOrder, listener: Option<OwnedFd>) -> io::Result<Option<PortForwarder>> {
    match (order.network, listener) {
        (NetworkAccess::Gateway(port), Some(listener)) => {
            Ok(Some(PortForwarder::start(TcpListener::from(listener), port)?))
        }
        (NetworkAccess::Gateway(_), None) => Err(io::Error::other("the helper sent no socket")),
        (NetworkAccess::Off | NetworkAccess::On | NetworkAccess::ProxyPort(_), _) => Ok(None),
    }
}

/// Sends the task to the helper. Returns its answer and the descriptors that it sent before.
fn exchange(
    socket: &UnixStream,
    launch: &HelperLaunch,
    order: &SandboxOrder,
    input: &OwnedFd,
) -> io::Result<(HelperMessage, SentDescriptors)> {
    socket.set_read_timeout(Some(READY_TIMEOUT))?;
    let mut writer = socket;
    send(&mut writer, launch)?;
    send_fd(&socket, input)?;
    send(&mut writer, order)?;
    let mut sent = SentDescriptors::default();
    loop {
        match receive(&mut &*socket)? {
            HelperMessage::PrivateDir => sent.dirs.push(receive_fd(&socket)?),
            HelperMessage::Listener => sent.listener = Some(receive_fd(&socket)?),
            message => return Ok((message, sent)),
        }
    }
}

/// Returns the first line of an error message of bubblewrap or the loader.
fn first_line(mut stderr: ChildStderr) -> String {
    let mut bytes = Vec::new();
    let _ = stderr.by_ref().take(4096).read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).lines().next().unwrap_or_default().trim().to_owned()
}

/// Returns the standard input of the script, and our end of it if it is a pipe.
fn open_input(source: &InputSource) -> io::Result<(OwnedFd, Option<File>)> {
    match source {
        InputSource::Complete(ScriptInput::Empty) => Ok((File::open("/dev/null")?.into(), None)),
        InputSource::Complete(ScriptInput::Bytes(bytes)) => {
            let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
            let mut file = File::from(rustix::fs::memfd_create("input", flags)?);
            file.write_all(bytes)?;
            // This memory is not counted by any limit, so the script must not change it.
            let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
            rustix::fs::fcntl_add_seals(&file, seals)?;
            rustix::fs::seek(&file, SeekFrom::Start(0))?;
            Ok((file.into(), None))
        }
        InputSource::Open => {
            let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
            // A script that does not read must not block the writer.
            rustix::io::ioctl_fionbio(&write, true)?;
            Ok((read, Some(File::from(write))))
        }
    }
}
