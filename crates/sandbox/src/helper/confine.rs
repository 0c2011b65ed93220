//! Drops privileges: root, capabilities, resources and file access.

use std::io;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, NetPort,
    PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
    path_beneath_rules,
};
use rustix::process::{DumpableBehavior, Resource, Rlimit};
use rustix::thread::CapabilitySets;

use super::seccomp;
use crate::network::NetworkAccess;
use crate::processes;
use crate::wire::{NameableFiles, Rlimits, SandboxOrder, SignalIsolation};

/// The required Landlock ABI for files. Older kernels cannot prevent truncation.
const FILES_ABI: ABI = ABI::V3;

/// The first Landlock ABI that restricts connections.
const PORTS_ABI: u32 = 4;

/// The first Landlock ABI that restricts signals.
const SIGNAL_SCOPE_ABI: u32 = 6;

/// Files in `/proc/self` that a script may read. Connections, mounts and control groups are about the machine.
const PROC_SELF_FILES: &[&str] = &[
    "auxv",
    "cmdline",
    "comm",
    "environ",
    "io",
    "limits",
    "maps",
    "oom_score",
    "smaps",
    "smaps_rollup",
    "stat",
    "statm",
    "status",
    "wchan",
];

/// Directories in `/proc/self` that a script may read.
const PROC_SELF_DIRS: &[&str] = &["fd", "fdinfo"];

/// Directories in `/proc/self` that a script may list but not read: each thread also has connections and mounts.
const PROC_SELF_LISTS: &[&str] = &["task"];

/// Becomes another user without groups. Fails if the process is still root.
pub(super) fn become_user(user: Option<u32>) -> io::Result<()> {
    if let Some(user) = user {
        let (uid, gid) = (rustix::process::Uid::from_raw(user), rustix::process::Gid::from_raw(user));
        rustix::thread::set_thread_groups(&[])?;
        rustix::thread::set_thread_res_gid(gid, gid, gid)?;
        rustix::thread::set_thread_res_uid(uid, uid, uid)?;
    }
    if rustix::process::geteuid().is_root() || rustix::process::getuid().is_root() {
        return Err(io::Error::other("still running as root"));
    }
    Ok(())
}

/// Prevents other processes of the same user from reading the memory and environment of this one.
pub(super) fn hide_memory() -> io::Result<()> {
    Ok(rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// Drops everything that the order does not allow. Returns the ABI version of Landlock.
pub(super) fn confine(order: &SandboxOrder, is_first: bool) -> Result<u32, String> {
    let failed = |step: &str| {
        let step = step.to_owned();
        move |error: rustix::io::Errno| format!("{step}: {error}")
    };
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    std::env::set_current_dir(&order.directory)
        .map_err(|error| format!("cannot enter the skill directory: {error}"))?;
    set_limits(&order.limits, is_first).map_err(failed("resource limits"))?;
    // The parent process may have passed on ambient capabilities.
    let _ = rustix::thread::clear_ambient_capability_set();
    let empty = rustix::thread::CapabilitySet::empty();
    let no_capabilities = CapabilitySets { effective: empty, permitted: empty, inheritable: empty };
    rustix::thread::set_capabilities(None, no_capabilities).map_err(failed("capabilities"))?;
    rustix::thread::set_no_new_privs(true).map_err(failed("no_new_privs"))?;
    if !order.confined {
        return Ok(0);
    }
    let version = restrict_files(order)?;
    if matches!(order.network, NetworkAccess::ProxyPort(_)) && version < PORTS_ABI {
        return Err(format!(
            "Landlock is too old to restrict connections: version {version}, but {PORTS_ABI} is required (Linux 6.7)"
        ));
    }
    let signals = match order.signals {
        SignalIsolation::Namespace => seccomp::SignalPolicy::Allowed,
        SignalIsolation::Scoped if version >= SIGNAL_SCOPE_ABI => seccomp::SignalPolicy::Allowed,
        SignalIsolation::Scoped | SignalIsolation::Denied => seccomp::SignalPolicy::Denied,
    };
    seccomp::apply(order.network, signals, order.nameable)?;
    Ok(version)
}

fn set_limits(limits: &Rlimits, is_first: bool) -> Result<(), rustix::io::Errno> {
    // The kernel counts the processes of a user in this namespace. Without a namespace, existing processes count, too.
    // The first process of a namespace runs next to the script; otherwise this process becomes the script.
    let other_processes = match is_first {
        true => 1,
        false => processes::count_user_threads(rustix::process::getuid().as_raw()).saturating_sub(1),
    };
    for (resource, limit) in [
        // Not 0: with 0, the kernel still starts a core dump handler; with 1, it does not.
        (Resource::Core, 1),
        (Resource::Data, limits.memory),
        (Resource::Fsize, limits.file),
        (Resource::Nofile, limits.open_files),
        (Resource::Nproc, limits.processes + other_processes),
    ] {
        // Keep lower existing limits.
        let hard = rustix::process::getrlimit(resource).maximum.map_or(limit, |now| now.min(limit));
        rustix::process::setrlimit(resource, Rlimit { current: Some(hard), maximum: Some(hard) })?;
    }
    Ok(())
}

fn restrict_files(order: &SandboxOrder) -> Result<u32, String> {
    let failed = |error: landlock::RulesetError| format!("Landlock: {error}");
    let status = build_ruleset(order).map_err(failed)?.restrict_self().map_err(failed)?;
    let version = match status.landlock {
        LandlockStatus::Available { effective_abi, kernel_abi } => {
            kernel_abi.and_then(|abi| u32::try_from(abi).ok()).unwrap_or(effective_abi as u32)
        }
        LandlockStatus::NotEnabled => return Err("Landlock is not enabled in this kernel".to_owned()),
        LandlockStatus::NotImplemented => return Err("this kernel has no Landlock".to_owned()),
    };
    let enforced = status.ruleset != RulesetStatus::NotEnforced && status.no_new_privs;
    match enforced && version >= FILES_ABI as u32 {
        true => Ok(version),
        false => Err(format!("Landlock is too old: version {version}, but {} is required", FILES_ABI as u32)),
    }
}

fn build_ruleset(order: &SandboxOrder) -> Result<RulesetCreated, landlock::RulesetError> {
    let read: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::Execute;
    let mut special = AccessFs::MakeChar | AccessFs::MakeBlock;
    if order.nameable != NameableFiles::Nothing {
        // In a namespace, nothing else can find a socket.
        special |= AccessFs::MakeSock;
    }
    let write = AccessFs::from_all(FILES_ABI) & !special;
    // File access must be fully restricted; features of later kernels are used if available.
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(FILES_ABI))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::IoctlDev)?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?;
    let sockets = AccessNet::BindTcp | AccessNet::ConnectTcp;
    rules = match order.network {
        // The network of a gateway contains nothing else.
        NetworkAccess::On | NetworkAccess::Gateway(_) => rules,
        // Without network access, seccomp denies all sockets, too.
        NetworkAccess::Off => rules.handle_access(sockets)?,
        // Nothing else restricts the port, so the kernel must support it.
        NetworkAccess::ProxyPort(_) => rules
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(sockets)?
            .set_compatibility(CompatLevel::BestEffort),
    };
    let mut rules = rules.create()?;
    if let NetworkAccess::ProxyPort(port) = order.network {
        rules = rules.add_rule(NetPort::new(port, AccessNet::ConnectTcp))?;
    }
    let mut rules = rules
        .add_rules(path_beneath_rules(&order.readable, read))?
        .add_rules(path_beneath_rules(&order.devices, AccessFs::ReadFile | AccessFs::WriteFile))?
        .add_rules(path_beneath_rules(&order.writable, write))?;
    let proc_self: [(&[&str], BitFlags<AccessFs>); 3] = [
        (PROC_SELF_FILES, AccessFs::ReadFile.into()),
        (PROC_SELF_DIRS, AccessFs::ReadFile | AccessFs::ReadDir),
        (PROC_SELF_LISTS, AccessFs::ReadDir.into()),
    ];
    for (names, access) in proc_self {
        for name in names {
            if let Ok(file) = PathFd::new(Path::new("/proc/self").join(name)) {
                rules = rules.add_rule(PathBeneath::new(file, access))?;
            }
        }
    }
    Ok(rules)
}
