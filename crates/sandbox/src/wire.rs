//! What Prowess and its helper say to each other, over one socket that nobody else has.
//!
//! Each message is its length in four bytes and then JSON. The order is fixed: the helper is told how to get ready
//! ([`Launch`]), then, where it is confined, what to confine itself to and to run ([`Order`]), with the script's standard
//! input as a descriptor. It answers with [`Said`].

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

/// The first argument of a program that is to be the helper.
pub(crate) const HIDDEN: &str = "__prowess-sandbox";

/// The second argument of a helper that gets ready.
pub(crate) const LAUNCH: &str = "launch";

/// The longest message.
const MESSAGE_MAX: u32 = 16 * 1024 * 1024;

/// How the helper gets ready.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Launch {
    /// Whom to become; none where nothing is to be given up.
    pub(crate) user: Option<u32>,
    /// What to do then.
    pub(crate) way: Way,
}

/// What the helper does once it is nobody special.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Way {
    /// Becomes bubblewrap with these arguments, which then starts the helper again.
    Bubblewrap {
        /// The program.
        program: PathBuf,
        /// Everything before the program that it starts.
        arguments: Vec<String>,
    },
    /// Watches over a second helper, and ends whatever that leaves behind.
    Watch,
}

/// What to be confined to, and what to run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Order {
    /// The program.
    pub(crate) program: PathBuf,
    /// Its arguments, without its own name.
    pub(crate) arguments: Vec<String>,
    /// All variables. The bytes of values are kept: a variable need not be text.
    pub(crate) environment: Vec<(String, Vec<u8>)>,
    /// The folder to run in.
    pub(crate) directory: PathBuf,
    /// What may be read and executed.
    pub(crate) readable: Vec<PathBuf>,
    /// What may be written, too.
    pub(crate) writable: Vec<PathBuf>,
    /// Devices that may be read and written.
    pub(crate) devices: Vec<PathBuf>,
    /// The limits.
    pub(crate) limits: Rlimits,
    /// Whether the first of `writable` is a file system of its own, whose folder is handed over before the answer.
    pub(crate) private_scratch: bool,
    /// Whether the network is there.
    pub(crate) network: bool,
    /// Whether it is confined at all.
    pub(crate) confined: bool,
    /// Whether signals are denied where they cannot be kept inside.
    pub(crate) signals: Signals,
    /// Whose files can be named.
    pub(crate) around: Around,
}

/// Whose files a script can name, though it may not open them: Landlock does not keep it from their modes, times and
/// attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Around {
    /// Nobody's: there is nothing else to be seen.
    Nothing,
    /// Those of others.
    Others,
    /// Those of the user that it runs as.
    OwnFiles,
    /// The same, and it may open some of them, because what runs it is theirs.
    OwnPrograms,
}

/// What keeps signals inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Signals {
    /// There is nobody else to be seen.
    Namespace,
    /// Landlock, or else none can be sent.
    Scoped,
    /// None can be sent, as where Landlock cannot keep them inside. For tests.
    Denied,
}

/// Limits that the kernel keeps for each process.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Rlimits {
    pub(crate) memory: u64,
    pub(crate) processes: u64,
    pub(crate) file: u64,
    pub(crate) open_files: u64,
}

/// What the helper answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Said {
    /// Everything is enforced; it waits for the word to begin.
    Enforced {
        /// The version of Landlock's interface; 0 where it was not asked for.
        landlock: u32,
    },
    /// The scratch folder follows as a descriptor.
    Scratch,
    /// It could not be enforced.
    Refused(String),
    /// The program could not be started.
    NotStarted(String),
    /// The program has ended.
    Exited {
        /// Its exit code.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
        /// How many processes it left behind.
        left: u32,
    },
}

/// Writes a message.
pub(crate) fn send(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let bytes = serde_json::to_vec(message)?;
    let length = u32::try_from(bytes.len()).ok().filter(|length| *length <= MESSAGE_MAX);
    let length = length.ok_or_else(|| io::Error::other("the message is too long"))?;
    let mut framed = length.to_be_bytes().to_vec();
    framed.extend(bytes);
    to.write_all(&framed)
}

/// Reads a message, and not a byte more.
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

/// Hands a descriptor over.
pub(crate) fn send_fd(socket: &impl AsFd, fd: &impl AsFd) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let fds = [fd.as_fd()];
    if !control.push(SendAncillaryMessage::ScmRights(&fds)) {
        return Err(io::Error::other("no room for a descriptor"));
    }
    rustix::net::sendmsg(socket, &[IoSlice::new(&[0])], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Takes a descriptor.
pub(crate) fn receive_fd(socket: &impl AsFd) -> io::Result<OwnedFd> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    rustix::net::recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let fds = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(fds) => Some(fds),
        _ => None,
    });
    fds.flatten().next().ok_or_else(|| io::Error::other("no descriptor came"))
}

/// One byte: begin.
pub(crate) fn begin(to: &mut File) -> io::Result<()> {
    to.write_all(&[1])
}
