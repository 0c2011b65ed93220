//! System calls that the kernel denies a script.
//!
//! One filter is installed for each result: for calls of other architectures, for calls that are reported as missing so
//! that programs use an alternative, for forbidden calls, and two for calls that Landlock does not cover if the script has
//! no namespace.

mod lists;

use std::collections::BTreeMap;

use crate::network::NetworkAccess;
use crate::wire::NameableFiles;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

/// Whether a script may send signals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SignalPolicy {
    /// Allowed, because something else confines them.
    Allowed,
    /// No signals can be sent.
    Denied,
}

/// Installs the filters for this process and its descendants.
pub(super) fn apply(
    network: NetworkAccess,
    signals: SignalPolicy,
    nameable: NameableFiles,
) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| format!("seccomp: {error}");
    let arch: TargetArch = std::env::consts::ARCH
        .try_into()
        .map_err(|_| "seccomp: unsupported processor architecture".to_owned())?;
    let mut filters = vec![architecture_filter(arch)];
    for (rules, errno) in [
        (SeccompRules::missing(), libc::ENOSYS),
        (SeccompRules::without_attributes(nameable), libc::EOPNOTSUPP),
        (SeccompRules::without_effect(nameable), NO_ERROR),
        (SeccompRules::forbidden(network, signals, nameable), libc::EPERM),
    ] {
        let rules = rules.map_err(|error| failed(&error))?;
        if rules.0.is_empty() {
            continue;
        }
        let action = SeccompAction::Errno(errno.cast_unsigned());
        let filter = SeccompFilter::new(rules.0, SeccompAction::Allow, action, arch)
            .map_err(|error| failed(&error))?;
        filters.push(filter.try_into().map_err(|error: seccompiler::BackendError| failed(&error))?);
    }
    filters.iter().try_for_each(|filter: &BpfProgram| apply_filter(filter).map_err(|error| failed(&error)))
}

/// The errno of calls that are reported as successful without effect.
const NO_ERROR: i32 = 0;

/// The last known system call. Calls of later kernels are reported as missing.
const LAST_KNOWN: u32 = 462;

/// Denies calls of other architectures, which have different numbers, and unknown calls.
fn architecture_filter(arch: TargetArch) -> BpfProgram {
    const LOAD: u16 = 0x20;
    const EQUAL: u16 = 0x15;
    const GREATER: u16 = 0x25;
    const RETURN: u16 = 0x06;
    const NUMBER: u32 = 0;
    const ARCH: u32 = 4;
    let native = match arch {
        TargetArch::x86_64 => 0xC000_003E,
        TargetArch::aarch64 => 0xC000_00B7,
        TargetArch::riscv64 => 0xC000_00F3,
    };
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    vec![
        step(LOAD, 0, 0, ARCH),
        step(EQUAL, 1, 0, native),
        step(RETURN, 0, 0, libc::SECCOMP_RET_KILL_PROCESS),
        step(LOAD, 0, 0, NUMBER),
        // This includes the x32 calls, whose numbers start at 2^30.
        step(GREATER, 0, 1, LAST_KNOWN),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned()),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

/// System calls with the conditions under which they match; an empty list matches always.
struct SeccompRules(BTreeMap<i64, Vec<SeccompRule>>);

type RuleResult<T> = Result<T, seccompiler::BackendError>;

impl SeccompRules {
    /// Calls that are reported as missing, because a filter cannot see their arguments.
    fn missing() -> RuleResult<Self> {
        let mut rules = Self(BTreeMap::new());
        // Its structure can request namespaces. Libraries fall back to clone.
        rules.always(&[libc::SYS_clone3]);
        rules.always(lists::HIDDEN_MEMORY);
        Ok(rules)
    }

    /// Calls for attributes of files that the script cannot open, which Landlock does not restrict.
    fn without_attributes(nameable: NameableFiles) -> RuleResult<Self> {
        let mut rules = Self(BTreeMap::new());
        if nameable != NameableFiles::Nothing {
            rules.always(lists::ATTRIBUTES);
        }
        Ok(rules)
    }

    /// Calls that set sizes of socket buffers, and modes and times of files by name. Programs that copy files make them
    /// routinely, and they do not matter in a scratch directory. Where they cannot be restricted to it, they have no effect.
    fn without_effect(nameable: NameableFiles) -> RuleResult<Self> {
        let mut rules = Self(BTreeMap::new());
        // Programs request larger buffers as a hint. Buffers are memory that belongs to no process, so their size must
        // be known.
        for option in lists::BUFFER_SIZES {
            let conditions = [(1, SeccompCmpOp::Eq, lists::SOL_SOCKET), (2, SeccompCmpOp::Eq, *option)];
            rules.when(libc::SYS_setsockopt, &conditions)?;
        }
        if nameable >= NameableFiles::OwnFiles {
            rules.always(lists::MODES);
            // Without a name, the call applies to an open file.
            rules.when_pointer(libc::SYS_utimensat, 1)?;
        }
        if nameable >= NameableFiles::OwnPrograms {
            rules.always(&[libc::SYS_fchmod, libc::SYS_utimensat]);
        }
        Ok(rules)
    }

    fn forbidden(network: NetworkAccess, signals: SignalPolicy, nameable: NameableFiles) -> RuleResult<Self> {
        let mut rules = Self(BTreeMap::new());
        rules.always(lists::OTHER_PROCESSES);
        rules.always(lists::SYSTEM);
        rules.always(lists::SHARED);
        #[cfg(target_arch = "x86_64")]
        rules.always(&[libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt]);
        rules.namespaces()?;
        rules.network(network, nameable)?;
        // Only for the process itself.
        rules.when(libc::SYS_prlimit64, &[(0, SeccompCmpOp::Ne, 0)])?;
        // Resources that cannot be seen cannot be counted.
        rules.when(libc::SYS_prctl, &[(0, SeccompCmpOp::Eq, lists::PR_SET_DUMPABLE)])?;
        rules.when(libc::SYS_fcntl, &[(1, SeccompCmpOp::Eq, lists::F_SETPIPE_SZ)])?;
        // Input that appears as if typed at a terminal.
        for request in [lists::TIOCSTI, lists::TIOCLINUX] {
            rules.when(libc::SYS_ioctl, &[(1, SeccompCmpOp::Eq, request)])?;
        }
        if signals == SignalPolicy::Denied {
            rules.always(lists::SIGNALS);
            // Signals about events on an open file, to any process.
            for command in lists::FCNTL_SET_SIGNAL_OWNER {
                rules.when(libc::SYS_fcntl, &[(1, SeccompCmpOp::Eq, *command)])?;
            }
            for request in lists::IOCTL_SET_SIGNAL_OWNER {
                rules.when(libc::SYS_ioctl, &[(1, SeccompCmpOp::Eq, *request)])?;
            }
        }
        if nameable != NameableFiles::Nothing {
            // Changes of other files, and the processors of other processes.
            rules.always(&[libc::SYS_inotify_add_watch]);
            rules.when(libc::SYS_fcntl, &[(1, SeccompCmpOp::Eq, lists::F_NOTIFY)])?;
            rules.when(libc::SYS_sched_setaffinity, &[(0, SeccompCmpOp::Ne, 0)])?;
        }
        if nameable >= NameableFiles::OwnFiles {
            rules.always(lists::CHANGE_FILE_OWNER);
        }
        if nameable >= NameableFiles::OwnPrograms {
            rules.always(&[libc::SYS_fchown, libc::SYS_fsetxattr, libc::SYS_fremovexattr]);
        }
        Ok(rules)
    }

    fn always(&mut self, calls: &[i64]) {
        for call in calls {
            self.0.insert(*call, Vec::new());
        }
    }

    /// Adds a call that matches if all conditions hold. A call that always matches still does.
    fn when(&mut self, call: i64, conditions: &[(u8, SeccompCmpOp, u64)]) -> RuleResult<()> {
        if self.0.get(&call).is_some_and(Vec::is_empty) {
            return Ok(());
        }
        let conditions = conditions
            .iter()
            .map(|(index, op, value)| {
                SeccompCondition::new(*index, SeccompCmpArgLen::Dword, op.clone(), *value)
            })
            .collect::<RuleResult<Vec<_>>>()?;
        self.0.entry(call).or_default().push(SeccompRule::new(conditions)?);
        Ok(())
    }

    fn namespaces(&mut self) -> RuleResult<()> {
        self.always(&[libc::SYS_unshare, libc::SYS_setns]);
        for flag in [
            libc::CLONE_NEWNS,
            libc::CLONE_NEWCGROUP,
            libc::CLONE_NEWUTS,
            libc::CLONE_NEWIPC,
            libc::CLONE_NEWUSER,
            libc::CLONE_NEWPID,
            libc::CLONE_NEWNET,
        ] {
            let flag = u64::from(flag.cast_unsigned());
            self.when(libc::SYS_clone, &[(0, SeccompCmpOp::MaskedEq(flag), flag)])?;
        }
        Ok(())
    }

    fn network(&mut self, network: NetworkAccess, nameable: NameableFiles) -> RuleResult<()> {
        let family = |family: i32| u64::from(family.cast_unsigned());
        let is_isolated = matches!(network, NetworkAccess::Off | NetworkAccess::Gateway(_))
            && nameable == NameableFiles::Nothing;
        if !is_isolated {
            // Listening in the network of this machine is never allowed, with or without network access.
            self.always(&[libc::SYS_listen, libc::SYS_accept, libc::SYS_accept4]);
        }
        match network {
            // In namespaces of their own, programs such as LibreOffice may listen on a UNIX socket, to find out whether they
            // are already running. Nothing inside can connect to it or to any other socket, also not to those of the host in
            // directories that are visible.
            NetworkAccess::Off if is_isolated => {
                self.when(libc::SYS_socket, &[(0, SeccompCmpOp::Ne, family(libc::AF_UNIX))])?;
                self.only_streams(libc::SYS_socket)?;
                self.always(&[libc::SYS_connect, libc::SYS_sendmsg, libc::SYS_sendmmsg]);
                self.when_pointer(libc::SYS_sendto, 4)?;
            }
            NetworkAccess::Off => {
                self.always(&[
                    libc::SYS_socket,
                    libc::SYS_connect,
                    libc::SYS_bind,
                    libc::SYS_sendmsg,
                    libc::SYS_sendmmsg,
                ]);
                // Sending on one's own socket pair has no address.
                self.when_pointer(libc::SYS_sendto, 4)?;
            }
            // UNIX sockets lead to services of this machine; other families are rarely used and risky.
            NetworkAccess::On | NetworkAccess::Gateway(_) => {
                self.when(
                    libc::SYS_socket,
                    &[
                        (0, SeccompCmpOp::Ne, family(libc::AF_INET)),
                        (0, SeccompCmpOp::Ne, family(libc::AF_INET6)),
                        (0, SeccompCmpOp::Ne, family(libc::AF_NETLINK)),
                    ],
                )?;
                // Resolvers query addresses and routes; other protocols are about sockets, audits and firewalls.
                let route = u64::from(libc::NETLINK_ROUTE.cast_unsigned());
                self.when(
                    libc::SYS_socket,
                    &[(0, SeccompCmpOp::Eq, family(libc::AF_NETLINK)), (2, SeccompCmpOp::Ne, route)],
                )?;
            }
            NetworkAccess::ProxyPort(_) => self.only_tcp()?,
        }
        for (call, flags) in [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)] {
            self.when(call, &[(flags, SeccompCmpOp::MaskedEq(lists::MSG_OOB), lists::MSG_OOB)])?;
        }
        for option in lists::SOCKET_PROGRAMS {
            let conditions = [(1, SeccompCmpOp::Eq, lists::SOL_SOCKET), (2, SeccompCmpOp::Eq, *option)];
            self.when(libc::SYS_setsockopt, &conditions)?;
        }
        // A stream pair only connects the process to itself; other types can be redirected afterwards.
        self.when(libc::SYS_socketpair, &[(0, SeccompCmpOp::Ne, family(libc::AF_UNIX))])?;
        self.only_streams(libc::SYS_socketpair)
    }

    /// Allows a call only for sockets that transfer streams.
    fn only_streams(&mut self, call: i64) -> RuleResult<()> {
        for kind in 0..=15_u64 {
            if kind != u64::from(libc::SOCK_STREAM.cast_unsigned()) {
                self.when(call, &[(1, SeccompCmpOp::MaskedEq(15), kind)])?;
            }
        }
        Ok(())
    }

    /// Allows only TCP sockets, whose connections Landlock restricts to a port. Landlock does not see other protocols, nor
    /// connections that sending data opens.
    fn only_tcp(&mut self) -> RuleResult<()> {
        let number = |value: i32| u64::from(value.cast_unsigned());
        self.when(
            libc::SYS_socket,
            &[(0, SeccompCmpOp::Ne, number(libc::AF_INET)), (0, SeccompCmpOp::Ne, number(libc::AF_INET6))],
        )?;
        for kind in (0..=15_u64).filter(|kind| *kind != number(libc::SOCK_STREAM)) {
            self.when(libc::SYS_socket, &[(1, SeccompCmpOp::MaskedEq(15), kind)])?;
        }
        self.when(
            libc::SYS_socket,
            &[(2, SeccompCmpOp::Ne, 0), (2, SeccompCmpOp::Ne, number(libc::IPPROTO_TCP))],
        )?;
        let fast_open = number(libc::MSG_FASTOPEN);
        for (call, flags) in [(libc::SYS_sendto, 3), (libc::SYS_sendmsg, 2), (libc::SYS_sendmmsg, 3)] {
            self.when(call, &[(flags, SeccompCmpOp::MaskedEq(fast_open), fast_open)])?;
        }
        Ok(())
    }

    /// Adds a call that matches if a pointer argument is not null.
    fn when_pointer(&mut self, call: i64, index: u8) -> RuleResult<()> {
        if self.0.get(&call).is_some_and(Vec::is_empty) {
            return Ok(());
        }
        let condition = SeccompCondition::new(index, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
        self.0.entry(call).or_default().push(SeccompRule::new(vec![condition])?);
        Ok(())
    }
}
