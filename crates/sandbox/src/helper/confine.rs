//! Giving things up: root, capabilities, resources, files.

use std::io;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::process::{DumpableBehavior, Resource, Rlimit};
use rustix::thread::CapabilitySets;

use super::seccomp;
use crate::processes;
use crate::wire::{Order, Rlimits, Signals};

/// What files are held to. Older kernels cannot keep a file from being truncated.
const FILES: ABI = ABI::V3;

/// The first version of Landlock that keeps signals inside.
const KEEPS_SIGNALS: u32 = 6;

/// What a process may read about itself in `/proc/self`. Connections, mounts and control groups are about the machine.
const OWN_FILES: &[&str] = &[
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

/// The folders of `/proc/self` that hold nothing else.
const OWN_FOLDERS: &[&str] = &["fd", "fdinfo"];

/// The folders of `/proc/self` whose entries are listed and not read: each thread has connections and mounts, too.
const OWN_LISTS: &[&str] = &["task"];

/// Becomes another user and nobody's friend; without one, gives up what capabilities there are.
pub(super) fn become_user(user: Option<u32>) -> io::Result<()> {
    if let Some(user) = user {
        let (uid, gid) = (rustix::process::Uid::from_raw(user), rustix::process::Gid::from_raw(user));
        rustix::thread::set_thread_groups(&[])?;
        rustix::thread::set_thread_res_gid(gid, gid, gid)?;
        rustix::thread::set_thread_res_uid(uid, uid, uid)?;
    }
    if rustix::process::geteuid().is_root() || rustix::process::getuid().is_root() {
        return Err(io::Error::other("this is still root"));
    }
    Ok(())
}

/// Keeps other processes of the same user out of this one's memory and variables.
pub(super) fn hide_memory() -> io::Result<()> {
    Ok(rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

/// Gives up everything that the order does not leave. The answer is Landlock's version.
pub(super) fn confine(order: &Order, is_first: bool) -> Result<u32, String> {
    let said = |what: &str| {
        let what = what.to_owned();
        move |error: rustix::io::Errno| format!("{what}: {error}")
    };
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    std::env::set_current_dir(&order.directory).map_err(|error| format!("the skill's folder: {error}"))?;
    limits(&order.limits, is_first).map_err(said("resource limits"))?;
    // Whoever started Prowess may have handed some down.
    let _ = rustix::thread::clear_ambient_capability_set();
    let none = rustix::thread::CapabilitySet::empty();
    let nothing = CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::set_capabilities(None, nothing).map_err(said("capabilities"))?;
    rustix::thread::set_no_new_privs(true).map_err(said("no_new_privs"))?;
    if !order.confined {
        return Ok(0);
    }
    let version = files(order)?;
    let signals = match order.signals {
        Signals::Namespace => seccomp::Signals::Allowed,
        Signals::Scoped if version >= KEEPS_SIGNALS => seccomp::Signals::Allowed,
        Signals::Scoped | Signals::Denied => seccomp::Signals::Denied,
    };
    seccomp::apply(order.network, signals, order.around)?;
    Ok(version)
}

fn limits(limits: &Rlimits, is_first: bool) -> Result<(), rustix::io::Errno> {
    // The kernel counts what a user has, in this namespace: where there is no other, what was there before counts, too.
    // The first process of a namespace stays beside the script; without one, this process becomes the script.
    let others = match is_first {
        true => 1,
        false => processes::of_user(rustix::process::getuid().as_raw()).saturating_sub(1),
    };
    for (resource, limit) in [
        // Not 0: at that the kernel still starts a program of the system's that takes cores, at 1 it does not.
        (Resource::Core, 1),
        (Resource::Data, limits.memory),
        (Resource::Fsize, limits.file),
        (Resource::Nofile, limits.open_files),
        (Resource::Nproc, limits.processes + others),
    ] {
        // What is lower already stays.
        let hard = rustix::process::getrlimit(resource).maximum.map_or(limit, |now| now.min(limit));
        rustix::process::setrlimit(resource, Rlimit { current: Some(hard), maximum: Some(hard) })?;
    }
    Ok(())
}

fn files(order: &Order) -> Result<u32, String> {
    let told = |error: landlock::RulesetError| format!("Landlock: {error}");
    let status = ruleset(order).map_err(told)?.restrict_self().map_err(told)?;
    let version = match status.landlock {
        LandlockStatus::Available { effective_abi, kernel_abi } => {
            kernel_abi.and_then(|abi| u32::try_from(abi).ok()).unwrap_or(effective_abi as u32)
        }
        LandlockStatus::NotEnabled => return Err("Landlock is not enabled in this kernel".to_owned()),
        LandlockStatus::NotImplemented => return Err("this kernel has no Landlock".to_owned()),
    };
    let enforced = status.ruleset != RulesetStatus::NotEnforced && status.no_new_privs;
    match enforced && version >= FILES as u32 {
        true => Ok(version),
        false => Err(format!("Landlock is too old: version {version}, and {} is needed", FILES as u32)),
    }
}

fn ruleset(order: &Order) -> Result<RulesetCreated, landlock::RulesetError> {
    let read: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::Execute;
    let special = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::MakeSock;
    let write = AccessFs::from_all(FILES) & !special;
    // Files have to be held to all of it; of what later kernels add, as much as there is.
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(FILES))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::IoctlDev)?
        .scope(Scope::AbstractUnixSocket | Scope::Signal)?;
    if !order.network {
        rules = rules.handle_access(AccessNet::BindTcp | AccessNet::ConnectTcp)?;
    }
    let mut rules = rules
        .create()?
        .add_rules(path_beneath_rules(&order.readable, read))?
        .add_rules(path_beneath_rules(&order.devices, AccessFs::ReadFile | AccessFs::WriteFile))?
        .add_rules(path_beneath_rules(&order.writable, write))?;
    let own: [(&[&str], BitFlags<AccessFs>); 3] = [
        (OWN_FILES, AccessFs::ReadFile.into()),
        (OWN_FOLDERS, AccessFs::ReadFile | AccessFs::ReadDir),
        (OWN_LISTS, AccessFs::ReadDir.into()),
    ];
    for (names, access) in own {
        for name in names {
            if let Ok(own) = PathFd::new(Path::new("/proc/self").join(name)) {
                rules = rules.add_rule(PathBeneath::new(own, access))?;
            }
        }
    }
    Ok(rules)
}
