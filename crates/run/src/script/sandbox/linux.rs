//! Linux: bubblewrap around the helper, or the helper alone.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, SeekFrom};

use super::wire::{Launch, Order, Rlimits, Said, Signals, Way, begin, receive, send, send_fd};
use super::{Sandbox, SandboxError, Task, Tier, places};
use crate::script::helper::{HIDDEN, LAUNCH};
use crate::script::options::{Helper, Input, Network};
use crate::script::ran::Stream;

/// Where bubblewrap may lie. It is never looked up: what a search would find could be anybody's.
const BUBBLEWRAP: &[&str] =
    &["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap"];

/// How long getting ready may take.
const READY: Duration = Duration::from_secs(20);

/// How long a watching helper may take to end everything before it is ended itself.
const SWEEP: Duration = Duration::from_secs(3);

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
        let mut arguments = arguments(task);
        let first = self.start(task, &program, &arguments);
        // Older versions do not know it. Namespaces are denied by seccomp as well.
        let flag = "--disable-userns";
        match first {
            Err(error) if error.why.contains(flag) => {
                arguments.retain(|argument| argument != flag);
                self.start(task, &program, &arguments)
            }
            other => other,
        }
    }
}

impl Bubblewrap {
    fn start(&self, task: &Task<'_>, program: &Path, arguments: &[String]) -> Result<Enforced, SandboxError> {
        let way = Way::Bubblewrap { program: program.to_owned(), arguments: arguments.to_vec() };
        let mut order = order(task, Signals::Namespace);
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
        order.readable.extend(places::machine());
        order.confined = self.confined;
        start(&self.helper, Launch { user: task.user, way: Way::Watch }, &order, task, self.tier())
    }
}

/// What bubblewrap is told: everything is taken away, and little given back.
fn arguments(task: &Task<'_>) -> Vec<String> {
    let mut arguments: Vec<String> = [
        "--unshare-all",
        "--unshare-user",
        "--disable-userns",
        "--die-with-parent",
        "--new-session",
        "--as-pid-1",
    ]
    .map(str::to_owned)
    .to_vec();
    let mut add = |parts: &[&str]| arguments.extend(parts.iter().map(|part| (*part).to_owned()));
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
    add(&["--ro-bind", &skill, &skill, "--bind", &scratch, &scratch, "--remount-ro", "/", "--chdir", &skill]);
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
        network: task.network == Network::On,
        confined: true,
        signals,
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
        Ok(Said::Enforced { landlock }) => Ok(landlock),
        Ok(Said::Refused(why) | Said::NotStarted(why)) => Err(why),
        Ok(Said::Exited { .. }) => Err("the helper ended".to_owned()),
        Err(_) => Err(String::new()),
    };
    match (said, child.stdout.take(), child.stderr.take()) {
        (Ok(landlock), Some(stdout), Some(stderr)) => {
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

fn ask(ours: &UnixStream, launch: &Launch, order: &Order, input: &OwnedFd) -> io::Result<Said> {
    ours.set_read_timeout(Some(READY))?;
    let mut writer = ours;
    send(&mut writer, launch)?;
    send_fd(&ours, input)?;
    send(&mut writer, order)?;
    receive(&mut &*ours)
}

/// What bubblewrap or the loader complained about.
fn first_line(mut stderr: ChildStderr) -> String {
    let mut bytes = Vec::new();
    let _ = stderr.by_ref().take(4096).read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).lines().next().unwrap_or_default().trim().to_owned()
}

/// The script's standard input, and our end of it where it is a pipe.
fn input(input: &Input) -> io::Result<(OwnedFd, Option<File>)> {
    match input {
        Input::Nothing => Ok((File::open("/dev/null")?.into(), None)),
        Input::Bytes(bytes) => {
            let fd = rustix::fs::memfd_create("input", MemfdFlags::CLOEXEC)?;
            let mut file = File::from(fd);
            file.write_all(bytes)?;
            rustix::fs::seek(&file, SeekFrom::Start(0))?;
            Ok((file.into(), None))
        }
        Input::Pipe => {
            let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
            Ok((read, Some(File::from(write))))
        }
    }
}

/// A script that is confined and waits for the word to begin. Only [`Sandbox::enforce`] makes one.
#[derive(Debug)]
pub struct Enforced {
    landlock: u32,
    running: Running,
}

impl Enforced {
    /// The version of Landlock's interface that is in force; 0 where none is.
    pub fn landlock(&self) -> u32 {
        self.landlock
    }

    /// Begins.
    pub fn spawn(mut self) -> Result<Running, SandboxError> {
        let tier = self.running.tier;
        let began = self.running.control.as_mut().map(begin);
        match began {
            Some(Ok(())) => Ok(self.running),
            Some(Err(error)) => Err(SandboxError::new(tier, error)),
            None => Err(SandboxError::new(tier, "the helper went away")),
        }
    }
}

/// A script that runs. Dropping it ends it, with everything it started.
#[derive(Debug)]
pub struct Running {
    tier: Tier,
    child: Child,
    control: Option<File>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    input: Option<File>,
    ended: bool,
}

/// What happened to a script.
#[derive(Debug)]
pub(crate) enum Event {
    /// It wrote something.
    Output(Stream, Vec<u8>),
    /// It could not be started.
    NotStarted(String),
    /// It ended by itself.
    Exited { code: Option<i32>, signal: Option<i32> },
}

impl Running {
    /// Under which protection it runs.
    pub fn tier(&self) -> Tier {
        self.tier
    }

    /// The process that holds all of its others.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// The way to its standard input, where that is a pipe.
    pub fn take_input(&mut self) -> Option<File> {
        self.input.take()
    }

    /// Its standard output and standard error, for those who read them themselves.
    pub fn take_output(&mut self) -> (Option<ChildStdout>, Option<ChildStderr>) {
        (self.stdout.take(), self.stderr.take())
    }

    /// Whether there is nothing more to hear of it.
    pub(crate) fn is_silent(&self) -> bool {
        self.control.is_none() && self.stdout.is_none() && self.stderr.is_none()
    }

    /// Waits for something to happen, not longer than this.
    pub(crate) fn next(&mut self, wait: Duration) -> io::Result<Vec<Event>> {
        let mut ready = [false; 3];
        {
            let fds = [
                self.control.as_ref().map(AsFd::as_fd),
                self.stdout.as_ref().map(AsFd::as_fd),
                self.stderr.as_ref().map(AsFd::as_fd),
            ];
            let mut at = Vec::new();
            let mut polled = Vec::new();
            for (index, fd) in fds.iter().enumerate() {
                if let Some(fd) = fd {
                    at.push(index);
                    polled.push(PollFd::from_borrowed_fd(*fd, PollFlags::IN));
                }
            }
            let timeout = Timespec::try_from(wait).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
            match poll(&mut polled, Some(&timeout)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for (index, polled) in at.iter().zip(&polled) {
                ready[*index] = !polled.revents().is_empty();
            }
        }
        let mut events = Vec::new();
        let [control, stdout, stderr] = ready;
        if stdout {
            take(&mut self.stdout, Stream::Out, &mut events);
        }
        if stderr {
            take(&mut self.stderr, Stream::Err, &mut events);
        }
        if control && let Some(socket) = &mut self.control {
            match receive(socket) {
                Ok(Said::NotStarted(why) | Said::Refused(why)) => events.push(Event::NotStarted(why)),
                Ok(Said::Exited { code, signal }) => events.push(Event::Exited { code, signal }),
                Ok(Said::Enforced { .. }) => {}
                Err(_) => self.control = None,
            }
        }
        Ok(events)
    }

    /// Ends it and everything it started.
    pub fn kill(&mut self) {
        if self.ended {
            return;
        }
        self.ended = true;
        match self.tier {
            // The namespace goes with the process that holds it.
            Tier::Tier1 => drop(self.child.kill()),
            // The watching helper ends the others first, when it is no longer listened to.
            Tier::Tier2 | Tier::None => {
                if let Some(control) = &self.control {
                    let _ = rustix::net::shutdown(control, rustix::net::Shutdown::Write);
                }
                let begun = Instant::now();
                while begun.elapsed() < SWEEP && matches!(self.child.try_wait(), Ok(None)) {
                    std::thread::sleep(Duration::from_millis(2));
                }
                let _ = self.child.kill();
            }
        }
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

fn take(from: &mut Option<impl Read>, stream: Stream, events: &mut Vec<Event>) {
    let mut buffer = vec![0; 64 * 1024];
    match from.as_mut().map(|from| from.read(&mut buffer)) {
        Some(Ok(count)) if count > 0 => {
            buffer.truncate(count);
            events.push(Event::Output(stream, buffer));
        }
        Some(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
        _ => *from = None,
    }
}

/// The first user of a range that no system hands out, and how many there are.
const UNUSED: (u32, u32) = (0x7700_0000, 0x1_0000);

/// Nobody, for containers that know no higher numbers.
const NOBODY: u32 = 65_534;

/// Whom to become where Prowess is root: a user that owns nothing, another one for each run.
pub(crate) fn unused_user() -> Result<Option<u32>, SandboxError> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = std::process::id().wrapping_mul(16).wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
    let unused = UNUSED.0 + number % UNUSED.1;
    let known = |user: u32| maps("/proc/self/uid_map", user) && maps("/proc/self/gid_map", user);
    match [unused, NOBODY].into_iter().find(|user| known(*user)) {
        Some(user) => Ok(Some(user)),
        None => Err(SandboxError::new(Tier::Tier2, "this is root, and there is no other user to become")),
    }
}

/// Whether a number is a user here.
fn maps(file: &str, user: u32) -> bool {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().any(|line| {
        let numbers: Vec<u64> = line.split_whitespace().filter_map(|part| part.parse().ok()).collect();
        matches!(numbers[..], [first, _, count] if (first..first + count).contains(&u64::from(user)))
    })
}

/// Whether a user who owns nothing can get to a file and execute it.
pub(crate) fn may_enter(path: &Path, _user: u32) -> bool {
    path.ancestors().all(|step| step.metadata().is_ok_and(|metadata| metadata.mode() & 0o001 != 0))
}

/// Where scratch folders are made. For root that is a place that everybody can get to.
pub(crate) fn scratch_parent() -> PathBuf {
    if rustix::process::geteuid().is_root() { PathBuf::from("/tmp") } else { std::env::temp_dir() }
}
