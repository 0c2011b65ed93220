//! The helper: this program, started again to confine itself and run a script.
//!
//! It is a separate process because confinement cannot be undone. It also avoids running code between fork and exec,
//! where hardly anything is allowed.

mod confine;
mod fds;
mod seccomp;
mod sweep;

use std::convert::Infallible;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{PidfdFlags, Signal, WaitOptions};

use super::network::NetworkAccess;
use super::wire::{
    HELPER_ARG, HelperLaunch, HelperMessage, LAUNCH_ROLE, LaunchMode, SandboxOrder, receive, receive_fd,
    send, send_fd,
};

/// The second argument of a helper that is confined.
const CONFINED_ROLE: &str = "inside";

static HELPER_MAIN_CALLED: AtomicBool = AtomicBool::new(false);

/// Returns `true` if this program called [`helper_main`], so that it can be its own helper.
pub(crate) fn is_ready() -> bool {
    HELPER_MAIN_CALLED.load(Ordering::Relaxed)
}

/// Must be called first in `main` by programs that run scripts. If this process was started as the sandbox helper, it
/// runs the helper and never returns.
pub fn helper_main() {
    HELPER_MAIN_CALLED.store(true, Ordering::Relaxed);
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() != Some(OsStr::new(HELPER_ARG)) {
        return;
    }
    let role = arguments.next();
    // Descriptors that the parent left open must not reach scripts.
    let result = fds::close_on_exec_from(3).and_then(|()| control_socket()).and_then(|mut control| {
        let result = match role.as_deref().and_then(OsStr::to_str) {
            Some(LAUNCH_ROLE) => launch(&mut control),
            Some(CONFINED_ROLE) => run_confined(&mut control),
            _ => Err(io::Error::other("unknown helper role")),
        };
        // Report the error to the parent, if it is still listening.
        result.or_else(|error| send(&mut control, &HelperMessage::Refused(error.to_string())))
    });
    std::process::exit(if result.is_ok() { 0 } else { 2 });
}

/// Returns the control socket, which is passed as standard input.
fn control_socket() -> io::Result<File> {
    Ok(File::from(rustix::io::fcntl_dupfd_cloexec(io::stdin(), 3)?))
}

fn launch(control: &mut File) -> io::Result<()> {
    let request: HelperLaunch = receive(control)?;
    // Opened before privileges are dropped: the file may only be accessible to root.
    let own_exe = File::open("/proc/self/exe")?;
    confine::become_user(request.user)?;
    match request.mode {
        LaunchMode::Bubblewrap { program, arguments } => {
            match exec_bubblewrap(&program, &arguments, own_exe)? {}
        }
        LaunchMode::Watch => watch_confined(control),
    }
}

/// Executes bubblewrap, which starts this program again through its open file.
fn exec_bubblewrap(program: &Path, arguments: &[String], own_exe: File) -> io::Result<Infallible> {
    rustix::io::fcntl_setfd(&own_exe, rustix::io::FdFlags::empty())?;
    let own_path = PathBuf::from(format!("/proc/self/fd/{}", own_exe.as_raw_fd()));
    let error = Command::new(program)
        .args(arguments)
        .arg("--")
        .arg(own_path)
        .args([HELPER_ARG, CONFINED_ROLE])
        .exec();
    Err(io::Error::other(format!("cannot start bubblewrap: {error}")))
}

/// Watches a confined helper. Processes that it leaves behind become children of this process, which kills them before
/// it reports the end of the script.
fn watch_confined(control: &mut File) -> io::Result<()> {
    let own_pid = rustix::process::getpid();
    rustix::process::set_child_subreaper(Some(own_pid))?;
    let _ = rustix::process::setsid();
    let child = Command::new("/proc/self/exe").args([HELPER_ARG, CONFINED_ROLE]).env_clear().spawn()?;
    let pid = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::other("invalid process id"))?;
    confine::hide_memory()?;
    let ended = rustix::process::pidfd_open(pid, PidfdFlags::empty())?;
    loop {
        let mut fds = [
            PollFd::new(&ended, PollFlags::IN),
            // The other end was closed: the script was abandoned.
            PollFd::new(control, PollFlags::RDHUP),
        ];
        match poll(&mut fds, None) {
            Ok(_) => break,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => break,
        }
    }
    let _ = rustix::process::kill_process(pid, Signal::KILL);
    let (status, left_behind) = sweep::kill_all(pid);
    send(control, &exit_message(status, left_behind))
}

/// Confines this process and runs the script.
fn run_confined(control: &mut File) -> io::Result<()> {
    let input = receive_fd(control)?;
    let order: SandboxOrder = receive(control)?;
    let is_first = std::process::id() == 1;
    if !is_first {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    }
    for dir in &order.private_dirs {
        let dir = File::open(dir)?;
        send(control, &HelperMessage::PrivateDir)?;
        send_fd(control, &dir)?;
    }
    if let NetworkAccess::Gateway(port) = order.network {
        // Fails in the network of this machine, where the gateway already listens.
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        send(control, &HelperMessage::Listener)?;
        send_fd(control, &listener)?;
    }
    if is_first {
        // Before the confinement, which does not allow this call.
        confine::hide_memory()?;
    }
    let landlock = confine::confine(&order, is_first).map_err(io::Error::other)?;
    send(control, &HelperMessage::Enforced { landlock })?;
    let mut start = [0];
    if control.read(&mut start)? == 0 {
        return Ok(());
    }
    let mut command = Command::new(&order.program);
    command.args(&order.arguments).env_clear().current_dir(&order.directory).stdin(Stdio::from(input));
    for (name, value) in &order.environment {
        command.env(name, std::ffi::OsString::from_vec(value.clone()));
    }
    let not_started = |error: io::Error| {
        HelperMessage::NotStarted(format!("cannot start {}: {error}", order.program.display()))
    };
    if !is_first {
        let error = command.exec();
        return send(control, &not_started(error));
    }
    // The first process of a namespace: no signal from inside ends it, and all other processes end with it.
    match command.spawn() {
        Ok(child) => {
            let status = wait_for(child.id());
            send(control, &exit_message(status, sweep::count_remaining()))
        }
        Err(error) => send(control, &not_started(error)),
    }
}

/// Waits for a process, and reaps all others that end.
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

fn exit_message(status: Option<i32>, left_behind: u32) -> HelperMessage {
    match status.map(ExitStatus::from_raw) {
        Some(status) => {
            HelperMessage::Exited { code: status.code(), signal: status.signal(), left: left_behind }
        }
        None => HelperMessage::Exited { code: None, signal: None, left: left_behind },
    }
}
