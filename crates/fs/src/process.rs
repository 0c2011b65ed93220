//! Process groups, waiting for input, and terminal modes.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, getrlimit, kill_process_group, setrlimit, test_kill_process,
};
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr, tcgetwinsize,
    tcsetattr,
};

/// Makes a command start in its own process group, so that it can be killed with all its children, and has no
/// controlling terminal.
pub fn set_own_group(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// Kills all processes of the group led by this process id.
pub fn kill_group(leader: u32) {
    if let Some(group) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        // The group may already be gone.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Returns `true` if no process has this id. An invalid id has not exited.
pub fn has_exited(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}

/// Waits until there is something to read, or the other end is closed. Returns `false` after the timeout or a
/// signal.
pub fn wait_readable(from: &impl AsFd, timeout: Duration) -> io::Result<bool> {
    let limit = Timespec::try_from(timeout).ok();
    match poll(&mut [PollFd::new(from, PollFlags::IN)], limit.as_ref()) {
        Ok(0) | Err(Errno::INTR) => Ok(false),
        Ok(_) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Raises this process's limit of open files to the maximum.
pub fn raise_open_files_limit() -> io::Result<()> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    Ok(setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?)
}

/// Returns the number of columns of a terminal, or 0 if it is unknown or not a terminal.
pub fn terminal_columns(terminal: &impl AsFd) -> usize {
    tcgetwinsize(terminal).map_or(0, |size| size.ws_col.into())
}

/// Discards what was typed on a terminal and not read yet, so that it does not answer a later question.
pub fn discard_typed(terminal: &impl AsFd) -> io::Result<()> {
    Ok(tcflush(terminal, QueueSelector::IFlush)?)
}

/// The mode of the terminal on standard input.
#[derive(Debug, Clone)]
pub struct TerminalMode(Termios);

impl TerminalMode {
    /// Returns the current mode, or `None` if standard input is not a terminal.
    pub fn current() -> Option<Self> {
        tcgetattr(io::stdin()).ok().map(Self)
    }

    /// Lets this process read keys as they are pressed, without showing them. Ctrl-C still interrupts it.
    pub fn read_keys(&self) -> io::Result<()> {
        let mut mode = self.0.clone();
        mode.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        mode.special_codes[SpecialCodeIndex::VMIN] = 1;
        mode.special_codes[SpecialCodeIndex::VTIME] = 0;
        Ok(tcsetattr(io::stdin(), OptionalActions::Now, &mode)?)
    }

    /// Restores this mode. Errors are ignored, because they mean that the terminal is gone.
    pub fn restore(&self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    #[test]
    fn killing_a_group_kills_its_children() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600 & echo started; wait"]).stdout(Stdio::piped());
        let mut child = set_own_group(&mut command).spawn().unwrap();
        let mut output = child.stdout.take().unwrap();
        let forever = Duration::from_secs(600);
        while !wait_readable(&output, forever).unwrap() {}
        assert!(!has_exited(child.id()) && !has_exited(std::process::id()) && !has_exited(0));
        kill_group(child.id());
        child.wait().unwrap();
        assert!(has_exited(child.id()));
        // The pipe is closed once no process holds it.
        io::Read::read_to_end(&mut output, &mut Vec::new()).unwrap();
    }
}
