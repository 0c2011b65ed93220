//! Linux: bubblewrap around the helper, or the helper alone.

mod running;
mod user;

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{ChildStderr, Command, Stdio};
use std::time::Duration;

use rustix::fs::{MemfdFlags, SealFlags, SeekFrom};

pub use running::{Enforced, Running};
pub(crate) use user::{may_enter, scratch_parent, unused_user};

use super::{Sandbox, SandboxError, Task, Tier, places};
use crate::options::{Feed, Helper, Input, Network};
use crate::wire::{
    Around, HIDDEN, LAUNCH, Launch, Order, Rlimits, Said, Signals, Way, receive, receive_fd, send, send_fd,
};

/// Where bubblewrap may lie. It is never looked up: what a search would find could be anybody's.
const BUBBLEWRAP: &[&str] =
    &["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap"];

/// How long getting ready may take.
const READY: Duration = Duration::from_secs(20);

/// Bubblewrap on this machine.
pub(super) fn bubblewrap() -> Option<PathBuf> {
    BUBBLEWRAP.iter().map(PathBuf::from).find(|path| path.is_file())
}

struct Bubblewrap {
    helper: Helper,
}

struct Watched {
    helper: Helper,
    confined: bool,
}

pub(super) fn ways(helper: &Helper) -> Vec<Box<dyn Sandbox>> {
    vec![
        Box::new(Bubblewrap { helper: helper.clone() }),
        Box::new(Watched { helper: helper.clone(), confined: true }),
    ]
}

pub(super) fn unprotected(helper: &Helper) -> Box<dyn Sandbox> {
    Box::new(Watched { helper: helper.clone(), confined: false })
}

impl Sandbox for Bubblewrap {
    fn tier(&self) -> Tier {
        Tier::Tier1
    }

    fn enforce(&self, task: &Task<'_>) -> Result<Enforced, SandboxError> {
        let failed = |why: &dyn std::fmt::Display| SandboxError::new(Tier::Tier1, why);
        let program = bubblewrap().ok_or_else(|| failed(&"bubblewrap is not installed"))?;
        let mut has = Features { disable_userns: true, size: true };
        loop {
            match self.start(task, &program, has) {
                // Older versions do not know these. Namespaces are denied by seccomp as well, and files on a disk are counted.
                Err(error) if has.disable_userns && error.why.contains(DISABLE_USERNS) => {
                    has.disable_userns = false;
                }
                Err(error) if has.size && error.why.contains(SIZE) => has.size = false,
                other => return other,
            }
        }
    }
}

/// The options of bubblewrap that older versions do not have.
#[derive(Debug, Clone, Copy)]
struct Features {
    /// [`DISABLE_USERNS`], since 0.8.
    disable_userns: bool,
    /// [`SIZE`], since 0.7.
    size: bool,
}

const DISABLE_USERNS: &str = "--disable-userns";
const SIZE: &str = "--size";

/// How much larger the scratch folder is than its limit: a script is ended for exceeding it, where it does not write this
/// much between two looks.
const SCRATCH_MARGIN: u64 = 64 * 1024 * 1024;

impl Bubblewrap {
    fn start(&self, task: &Task<'_>, program: &Path, has: Features) -> Result<Enforced, SandboxError> {
        let way = Way::Bubblewrap { program: program.to_owned(), arguments: arguments(task, has) };
        let mut order = order(task, Signals::Namespace);
        order.private_scratch = has.size;
        order.readable.push("/proc".into());
        start(&self.helper, Launch { user: task.user, way }, &order, task, Tier::Tier1)
    }
}

impl Sandbox for Watched {
    fn tier(&self) -> Tier {
        if self.confined { Tier::Tier2 } else { Tier::None }
    }

    fn enforce(&self, task: &Task<'_>) -> Result<Enforced, SandboxError> {
        let mut order = order(task, if self.helper.deny_signals { Signals::Denied } else { Signals::Scoped });
        order.around = around(task, &order.readable);
        order.readable.extend(places::machine());
        order.confined = self.confined;
        start(&self.helper, Launch { user: task.user, way: Way::Watch }, &order, task, self.tier())
    }
}

/// What bubblewrap is told: everything is taken away, and little given back.
fn arguments(task: &Task<'_>, has: Features) -> Vec<String> {
    let mut arguments: Vec<String> = Vec::new();
    let mut add = |parts: &[&str]| arguments.extend(parts.iter().map(|part| (*part).to_owned()));
    add(&["--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--as-pid-1"]);
    if has.disable_userns {
        add(&[DISABLE_USERNS]);
    }
    add(&["--cap-drop", "ALL", "--clearenv", "--hostname", "sandbox"]);
    if task.network == Network::On {
        add(&["--share-net"]);
    }
    for place in places::system(task.network == Network::On) {
        let text = place.to_string_lossy();
        match std::fs::read_link(&place) {
            // A distribution whose /bin is a link to usr/bin.
            Ok(target) if target.is_relative() && place.parent() == Some(Path::new("/")) => {
                add(&["--symlink", &target.to_string_lossy(), &text]);
            }
            _ => add(&["--ro-bind-try", &text, &text]),
        }
    }
    add(&["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]);
    for place in &task.readable {
        let text = place.to_string_lossy();
        add(&["--ro-bind", &text, &text]);
    }
    let (skill, scratch) = (task.skill.to_string_lossy(), task.scratch.to_string_lossy());
    add(&["--ro-bind", &skill, &skill]);
    match has.size {
        // The kernel keeps the size, and knows how much is used, whatever the script does to hide it.
        true => {
            let size = task.limits.scratch_bytes.saturating_add(SCRATCH_MARGIN).to_string();
            add(&["--perms", "0700", SIZE, &size, "--tmpfs", &scratch]);
        }
        false => add(&["--bind", &scratch, &scratch]),
    }
    add(&["--remount-ro", "/", "--chdir", &skill]);
    arguments
}

fn order(task: &Task<'_>, signals: Signals) -> Order {
    let mut readable = places::system(task.network == Network::On);
    readable.extend(task.readable.iter().cloned());
    readable.push(task.skill.to_owned());
    Order {
        program: task.program.clone(),
        arguments: task.arguments.clone(),
        environment: task
            .environment
            .iter()
            .map(|(name, value)| (name.clone(), value.clone().into_vec()))
            .collect(),
        directory: task.skill.to_owned(),
        readable,
        writable: vec![task.scratch.to_owned()],
        devices: places::DEVICES.iter().map(PathBuf::from).collect(),
        limits: Rlimits {
            memory: task.limits.memory_bytes,
            processes: u64::from(task.limits.processes),
            file: task.limits.file_bytes,
            open_files: u64::from(task.limits.open_files),
        },
        private_scratch: false,
        network: task.network == Network::On,
        confined: true,
        signals,
        around: Around::Nothing,
    }
}

/// Whose files can be named where there is no namespace.
fn around(task: &Task<'_>, readable: &[PathBuf]) -> Around {
    use std::os::unix::fs::MetadataExt;
    if task.user.is_some() {
        return Around::Others;
    }
    let own = rustix::process::geteuid().as_raw();
    let is_own = |path: &&PathBuf| path.metadata().is_ok_and(|metadata| metadata.uid() == own);
    match readable.iter().filter(|path| *path != task.skill).any(|path| is_own(&path)) {
        true => Around::OwnPrograms,
        false => Around::OwnFiles,
    }
}

/// Starts the helper and waits until it says that everything holds.
fn start(
    helper: &Helper,
    launch: Launch,
    order: &Order,
    task: &Task<'_>,
    tier: Tier,
) -> Result<Enforced, SandboxError> {
    let failed = |why: &dyn std::fmt::Display| SandboxError::new(tier, why);
    let path = helper.path().map_err(|why| failed(&why))?;
    let (ours, theirs) = UnixStream::pair().map_err(|error| failed(&error))?;
    let (input, pipe) = input(&task.input).map_err(|error| failed(&error))?;
    let mut child = Command::new(path)
        .args([HIDDEN, LAUNCH])
        .env_clear()
        .current_dir("/")
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(&format_args!("the helper cannot be started: {error}")))?;
    let asked = ask(&ours, &launch, order, &input);
    let said = match asked {
        Ok((Said::Enforced { .. }, None)) if order.private_scratch => {
            Err("the helper did not hand the scratch folder over".to_owned())
        }
        Ok((Said::Enforced { landlock }, scratch)) => Ok((landlock, scratch)),
        Ok((Said::Refused(why) | Said::NotStarted(why), _)) => Err(why),
        Ok((Said::Exited { .. } | Said::Scratch, _)) => Err("the helper ended".to_owned()),
        Err(_) => Err(String::new()),
    };
    match (said, child.stdout.take(), child.stderr.take()) {
        (Ok((landlock, scratch)), Some(stdout), Some(stderr)) => {
            let control = File::from(OwnedFd::from(ours));
            Ok(Enforced {
                landlock,
                running: Running {
                    tier,
                    child,
                    control: Some(control),
                    stdout: Some(stdout),
                    stderr: Some(stderr),
                    input: pipe,
                    scratch,
                    unsent: Vec::new(),
                    ended: false,
                },
            })
        }
        (said, _, stderr) => {
            drop(ours);
            // Nothing of a script has run yet; what is left is the helper.
            let _ = child.kill();
            let told = stderr.map(first_line).unwrap_or_default();
            let _ = child.wait();
            let why = said.err().filter(|why| !why.is_empty()).unwrap_or_default();
            let why = [why, told].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
            Err(failed(&if why.is_empty() { "the helper did not answer".to_owned() } else { why }))
        }
    }
}

/// Sends everything that the helper needs. Returns its answer, with the scratch folder where that is its own.
fn ask(
    ours: &UnixStream,
    launch: &Launch,
    order: &Order,
    input: &OwnedFd,
) -> io::Result<(Said, Option<OwnedFd>)> {
    ours.set_read_timeout(Some(READY))?;
    let mut writer = ours;
    send(&mut writer, launch)?;
    send_fd(&ours, input)?;
    send(&mut writer, order)?;
    match receive(&mut &*ours)? {
        Said::Scratch => {
            let scratch = receive_fd(&ours)?;
            Ok((receive(&mut &*ours)?, Some(scratch)))
        }
        said => Ok((said, None)),
    }
}

/// What bubblewrap or the loader complained about.
fn first_line(mut stderr: ChildStderr) -> String {
    let mut bytes = Vec::new();
    let _ = stderr.by_ref().take(4096).read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).lines().next().unwrap_or_default().trim().to_owned()
}

/// The script's standard input, and our end of it where it is a pipe.
fn input(feed: &Feed) -> io::Result<(OwnedFd, Option<File>)> {
    match feed {
        Feed::Given(Input::Nothing) => Ok((File::open("/dev/null")?.into(), None)),
        Feed::Given(Input::Bytes(bytes)) => {
            let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
            let mut file = File::from(rustix::fs::memfd_create("input", flags)?);
            file.write_all(bytes)?;
            // It is memory that no limit counts, so the script can only read it.
            let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
            rustix::fs::fcntl_add_seals(&file, seals)?;
            rustix::fs::seek(&file, SeekFrom::Start(0))?;
            Ok((file.into(), None))
        }
        Feed::Open => {
            let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
            // Whoever does not read must not hold up whoever writes.
            rustix::io::ioctl_fionbio(&write, true)?;
            Ok((read, Some(File::from(write))))
        }
    }
}
