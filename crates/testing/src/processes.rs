//! Counts the processes on this machine.

use std::fs;

/// Counts the processes with this text in an argument.
pub fn count_processes(text: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let commands = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    commands.filter(|command| command.windows(text.len()).any(|part| part == text.as_bytes())).count()
}
