//! Processes and terminals: groups that end together, waiting for input, and the state of a terminal.

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
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

/// Has a command start in a group of its own: it can be ended with all that it starts, and has no terminal to ask on.
pub fn in_own_group(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// Ends all processes of the group that a process of this number leads.
pub fn kill_group(leader: u32) {
    if let Some(group) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        // Where there is none any more, there is nothing to do.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Whether no process has this number any more. What cannot be a number of a process has not ended.
pub fn has_ended(number: u32) -> bool {
    let number = i32::try_from(number).ok().and_then(Pid::from_raw);
    number.is_some_and(|number| test_kill_process(number) == Err(Errno::SRCH))
}

/// Waits until there is something to read, or the other side is gone. Returns `false` if the time is over, or a signal
/// came.
pub fn wait_readable(from: &impl AsFd, at_most: Duration) -> io::Result<bool> {
    let limit = Timespec::try_from(at_most).ok();
    match poll(&mut [PollFd::new(from, PollFlags::IN)], limit.as_ref()) {
        Ok(0) | Err(Errno::INTR) => Ok(false),
        Ok(_) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Raises the number of files that this process may have open, as far as the system lets it.
pub fn raise_open_files_limit() -> io::Result<()> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    Ok(setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?)
}

/// How many columns a terminal has; 0 where it does not say, or is none.
pub fn terminal_columns(terminal: &impl AsFd) -> usize {
    tcgetwinsize(terminal).map_or(0, |size| size.ws_col.into())
}

/// How the terminal that is standard input treats what is typed.
#[derive(Debug, Clone)]
pub struct TerminalMode(Termios);

impl TerminalMode {
    /// As it is now; `None` where standard input is no terminal.
    pub fn of_input() -> Option<Self> {
        tcgetattr(io::stdin()).ok().map(Self)
    }

    /// Makes standard input so again. Where that is not possible any more, the terminal is gone.
    pub fn restore(&self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    #[test]
    fn a_group_ends_with_all_that_was_started() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600 & echo started; wait"]).stdout(Stdio::piped());
        let mut child = in_own_group(&mut command).spawn().unwrap();
        let mut output = child.stdout.take().unwrap();
        let forever = Duration::from_secs(600);
        while !wait_readable(&output, forever).unwrap() {}
        assert!(!has_ended(child.id()) && !has_ended(std::process::id()) && !has_ended(0));
        kill_group(child.id());
        child.wait().unwrap();
        assert!(has_ended(child.id()));
        // The pipe is closed only when nobody holds it any more.
        io::Read::read_to_end(&mut output, &mut Vec::new()).unwrap();
    }
}
