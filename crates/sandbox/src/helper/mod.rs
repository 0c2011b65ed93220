//! The helper: Prowess, started again to become what runs a script.
//!
//! It is a process of its own because confinement is for ever: what a thread gives up, its program never gets back. And
//! nothing has to happen between fork and exec, where hardly anything may.

mod confine;
mod fds;
mod seccomp;
mod sweep;

use std::convert::Infallible;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{PidfdFlags, Signal, WaitOptions};

use super::wire::{HIDDEN, LAUNCH, Launch, Order, Said, Way, receive, receive_fd, send, send_fd};

/// The second argument of a helper that is confined.
const INSIDE: &str = "inside";

static CALLED: AtomicBool = AtomicBool::new(false);

/// Whether this program can be its own helper.
pub(crate) fn is_ready() -> bool {
    CALLED.load(Ordering::Relaxed)
}

/// To be called first thing in `main` by programs that run scripts: where this program was started as the sandbox's
/// helper, it becomes that and never returns.
pub fn helper_main() {
    CALLED.store(true, Ordering::Relaxed);
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() != Some(OsStr::new(HIDDEN)) {
        return;
    }
    let role = arguments.next();
    // Whatever the program that started us left open is not for scripts.
    let done = fds::close_on_exec_from(3).and_then(|()| control()).and_then(|mut control| {
        let done = match role.as_deref().and_then(OsStr::to_str) {
            Some(LAUNCH) => launch(&mut control),
            Some(INSIDE) => inside(&mut control),
            _ => Err(io::Error::other("it is not known what to be")),
        };
        // Whoever listens learns why; nobody else has to.
        done.or_else(|error| send(&mut control, &Said::Refused(error.to_string())))
    });
    std::process::exit(if done.is_ok() { 0 } else { 2 });
}

/// The socket that stands where standard input was.
fn control() -> io::Result<File> {
    Ok(File::from(rustix::io::fcntl_dupfd_cloexec(io::stdin(), 3)?))
}

fn launch(control: &mut File) -> io::Result<()> {
    let order: Launch = receive(control)?;
    // Opened before anything is given up: it may lie where only root can go.
    let own = File::open("/proc/self/exe")?;
    confine::become_user(order.user)?;
    match order.way {
        Way::Bubblewrap { program, arguments } => match bubblewrap(&program, &arguments, own)? {},
        Way::Watch => watch(control),
    }
}

/// Becomes bubblewrap, which starts this program again by its open file.
fn bubblewrap(program: &Path, arguments: &[String], own: File) -> io::Result<Infallible> {
    rustix::io::fcntl_setfd(&own, rustix::io::FdFlags::empty())?;
    let again = PathBuf::from(format!("/proc/self/fd/{}", own.as_raw_fd()));
    let error = Command::new(program).args(arguments).arg("--").arg(again).args([HIDDEN, INSIDE]).exec();
    Err(io::Error::other(format!("bubblewrap cannot be started: {error}")))
}

/// Watches over a confined helper. Everything that it starts and leaves behind becomes a child of this process, which
/// ends it before it says that the script has ended.
fn watch(control: &mut File) -> io::Result<()> {
    let own = rustix::process::getpid();
    rustix::process::set_child_subreaper(Some(own))?;
    let _ = rustix::process::setsid();
    let child = Command::new("/proc/self/exe").args([HIDDEN, INSIDE]).env_clear().spawn()?;
    let pid = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::other("the process has no number"))?;
    confine::hide_memory()?;
    let ended = rustix::process::pidfd_open(pid, PidfdFlags::empty())?;
    loop {
        let mut fds = [
            PollFd::new(&ended, PollFlags::IN),
            // Nobody listens any more: the script was given up.
            PollFd::new(control, PollFlags::RDHUP),
        ];
        match poll(&mut fds, None) {
            Ok(_) => break,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => break,
        }
    }
    let _ = rustix::process::kill_process(pid, Signal::KILL);
    let (status, left) = sweep::everything(pid);
    send(control, &exited(status, left))
}

/// Confines itself and runs the script.
fn inside(control: &mut File) -> io::Result<()> {
    let input = receive_fd(control)?;
    let order: Order = receive(control)?;
    let is_first = std::process::id() == 1;
    if !is_first {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    }
    if order.private_scratch
        && let Some(scratch) = order.writable.first()
    {
        let scratch = File::open(scratch)?;
        send(control, &Said::Scratch)?;
        send_fd(control, &scratch)?;
    }
    if is_first {
        // Before anything is confined: no script may do this, so no process can afterwards.
        confine::hide_memory()?;
    }
    let landlock = confine::confine(&order, is_first).map_err(io::Error::other)?;
    send(control, &Said::Enforced { landlock })?;
    let mut word = [0];
    if control.read(&mut word)? == 0 {
        return Ok(());
    }
    let mut command = Command::new(&order.program);
    command.args(&order.arguments).env_clear().current_dir(&order.directory).stdin(Stdio::from(input));
    for (name, value) in &order.environment {
        command.env(name, std::ffi::OsString::from_vec(value.clone()));
    }
    let told = |error: io::Error| {
        Said::NotStarted(format!("{} cannot be started: {error}", order.program.display()))
    };
    if !is_first {
        let error = command.exec();
        return send(control, &told(error));
    }
    // The first process of a namespace: no signal from inside ends it, and all others end with it.
    match command.spawn() {
        Ok(child) => {
            let status = wait_for(child.id());
            send(control, &exited(status, sweep::left()))
        }
        Err(error) => send(control, &told(error)),
    }
}

/// Waits for a process, and lets all others that ended go.
fn wait_for(pid: u32) -> Option<i32> {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((ended, status))) if u32::try_from(ended.as_raw_nonzero().get()) == Ok(pid) => {
                return Some(status.as_raw());
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

fn exited(status: Option<i32>, left: u32) -> Said {
    match status.map(ExitStatus::from_raw) {
        Some(status) => Said::Exited { code: status.code(), signal: status.signal(), left },
        None => Said::Exited { code: None, signal: None, left },
    }
}
