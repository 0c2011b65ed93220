//! The protocol between Prowess and its helper, over a private socket.
//!
//! Each message is its length in four bytes, followed by JSON. The order is fixed: the helper receives a
//! [`HelperLaunch`] and, if it is confined, a [`SandboxOrder`] with the script's standard input as a descriptor. It
//! answers with [`HelperMessage`]s.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::network::NetworkAccess;

/// The first argument of a helper process.
pub(crate) const HELPER_ARG: &str = "__prowess-sandbox";

/// The second argument of a helper that prepares the sandbox.
pub(crate) const LAUNCH_ROLE: &str = "launch";

/// The maximum length of a message.
const MESSAGE_MAX: u32 = 16 * 1024 * 1024;

/// How the helper prepares the sandbox.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct HelperLaunch {
    /// The user to become; `None` to keep the current one.
    pub(crate) user: Option<u32>,
    /// What to do after that.
    pub(crate) mode: LaunchMode,
}

/// What the helper does after it dropped its privileges.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum LaunchMode {
    /// Executes bubblewrap with these arguments, which starts the helper again.
    Bubblewrap {
        program: PathBuf,
        /// The arguments before the program that bubblewrap starts.
        arguments: Vec<String>,
    },
    /// Watches a second helper, and kills all processes that it leaves behind.
    Watch,
}

/// The restrictions and the program to run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SandboxOrder {
    pub(crate) program: PathBuf,
    /// The arguments, without the program name.
    pub(crate) arguments: Vec<String>,
    /// The environment. Values are bytes, because they may not be text.
    pub(crate) environment: Vec<(String, Vec<u8>)>,
    /// The working directory.
    pub(crate) directory: PathBuf,
    /// Paths that may be read and executed.
    pub(crate) readable: Vec<PathBuf>,
    /// Paths that may also be written.
    pub(crate) writable: Vec<PathBuf>,
    /// Devices that may be read and written.
    pub(crate) devices: Vec<PathBuf>,
    pub(crate) limits: Rlimits,
    /// Those of `writable` that are file systems of their own, the scratch directory first. They are sent as descriptors
    /// before the answer, so that their usage can be measured.
    pub(crate) private_dirs: Vec<PathBuf>,
    /// Whether network access is allowed.
    pub(crate) network: NetworkAccess,
    /// Whether the script is confined.
    pub(crate) confined: bool,
    /// How signals to other processes are prevented.
    pub(crate) signals: SignalIsolation,
    /// Which other files the script can name in system calls, although it cannot open them.
    pub(crate) nameable: NameableFiles,
}

/// Which files a script can name without being able to open them: Landlock does not restrict access to their modes, times
/// and attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum NameableFiles {
    /// None: no other files are visible.
    Nothing,
    /// Files of other users.
    Others,
    /// Files of the user that runs the script.
    OwnFiles,
    /// Files of the user that runs the script, some of which it may open, because the interpreter belongs to the user.
    OwnPrograms,
}

/// How signals to other processes are prevented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SignalIsolation {
    /// No other processes are visible.
    Namespace,
    /// By Landlock; if it does not support that, no signals can be sent.
    Scoped,
    /// No signals can be sent. For tests.
    Denied,
}

/// Limits that the kernel enforces for each process.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Rlimits {
    pub(crate) memory: u64,
    pub(crate) processes: u64,
    pub(crate) file: u64,
    pub(crate) open_files: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum HelperMessage {
    /// Everything is enforced; the helper waits for the start signal.
    Enforced {
        /// The ABI version of Landlock; 0 if it is not used.
        landlock: u32,
    },
    /// The next of the private directories follows as a descriptor.
    PrivateDir,
    /// A socket that listens in the network of the program follows as a descriptor.
    Listener,
    /// The restrictions could not be enforced.
    Refused(String),
    /// The program could not be started.
    NotStarted(String),
    /// The program has ended.
    Exited {
        /// The exit code.
        code: Option<i32>,
        /// The signal that ended the program.
        signal: Option<i32>,
        /// How many processes the program left behind.
        left: u32,
    },
}

pub(crate) fn send(writer: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let bytes = serde_json::to_vec(message)?;
    let length = u32::try_from(bytes.len()).ok().filter(|length| *length <= MESSAGE_MAX);
    let length = length.ok_or_else(|| io::Error::other("the message is too long"))?;
    let mut framed = length.to_be_bytes().to_vec();
    framed.extend(bytes);
    writer.write_all(&framed)
}

/// Reads one message and no further bytes.
pub(crate) fn receive<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length);
    if length > MESSAGE_MAX {
        return Err(io::Error::other("the message is too long"));
    }
    let mut bytes = vec![0; length as usize];
    from.read_exact(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

/// Sends a descriptor.
pub(crate) fn send_fd(socket: &impl AsFd, fd: &impl AsFd) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let fds = [fd.as_fd()];
    if !control.push(SendAncillaryMessage::ScmRights(&fds)) {
        return Err(io::Error::other("cannot send a descriptor"));
    }
    rustix::net::sendmsg(socket, &[IoSlice::new(&[0])], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Receives a descriptor.
pub(crate) fn receive_fd(socket: &impl AsFd) -> io::Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    rustix::net::recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let fds = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(fds) => Some(fds),
        _ => None,
    });
    fds.flatten().next().ok_or_else(|| io::Error::other("no descriptor was received"))
}

/// Sends the start signal: one byte.
pub(crate) fn send_start(socket: &mut File) -> io::Result<()> {
    socket.write_all(&[1])
}
