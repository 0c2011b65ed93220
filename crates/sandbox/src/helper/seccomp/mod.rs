//! Which calls the kernel refuses a script.
//!
//! Filters are installed on top of each other, one for each answer: one for calls that no program of this machine's own
//! kind makes, one for calls that are said not to exist, so that programs take another way, one for calls that are
//! forbidden, and two for what Landlock leaves open where a script has no namespace of its own.

mod lists;

use std::collections::BTreeMap;

use crate::wire::Around;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

/// Whether a script may send signals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signals {
    /// Something else keeps them inside.
    Allowed,
    /// To nobody.
    Denied,
}

/// Installs the filters for this process and all that come from it.
pub(super) fn apply(network: bool, signals: Signals, around: Around) -> Result<(), String> {
    let told = |error: &dyn std::fmt::Display| format!("seccomp: {error}");
    let arch: TargetArch =
        std::env::consts::ARCH.try_into().map_err(|_| "seccomp: this processor is not known".to_owned())?;
    let mut filters = vec![own_kind(arch)];
    for (rules, errno) in [
        (Rules::unknown(), libc::ENOSYS),
        (Rules::without_attributes(around), libc::EOPNOTSUPP),
        (Rules::without_effect(around), DONE),
        (Rules::forbidden(network, signals, around), libc::EPERM),
    ] {
        let rules = rules.map_err(|error| told(&error))?;
        if rules.0.is_empty() {
            continue;
        }
        let action = SeccompAction::Errno(errno.cast_unsigned());
        let filter =
            SeccompFilter::new(rules.0, SeccompAction::Allow, action, arch).map_err(|error| told(&error))?;
        filters.push(filter.try_into().map_err(|error: seccompiler::BackendError| told(&error))?);
    }
    filters.iter().try_for_each(|filter: &BpfProgram| apply_filter(filter).map_err(|error| told(&error)))
}

/// Said to have been done.
const DONE: i32 = 0;

/// The last call that is known here. What later kernels add could be anything, and counts as not there.
const LAST_KNOWN: u32 = 462;

/// Refuses calls of another processor's kind, which have other numbers, and calls that are not known yet.
fn own_kind(arch: TargetArch) -> BpfProgram {
    const LOAD: u16 = 0x20;
    const EQUAL: u16 = 0x15;
    const GREATER: u16 = 0x25;
    const ANSWER: u16 = 0x06;
    const NUMBER: u32 = 0;
    const ARCH: u32 = 4;
    let own = match arch {
        TargetArch::x86_64 => 0xC000_003E,
        TargetArch::aarch64 => 0xC000_00B7,
        TargetArch::riscv64 => 0xC000_00F3,
    };
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    vec![
        step(LOAD, 0, 0, ARCH),
        step(EQUAL, 1, 0, own),
        step(ANSWER, 0, 0, libc::SECCOMP_RET_KILL_PROCESS),
        step(LOAD, 0, 0, NUMBER),
        // That includes the numbers of x32, which begin at 2^30.
        step(GREATER, 0, 1, LAST_KNOWN),
        step(ANSWER, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned()),
        step(ANSWER, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

/// Calls, each with the arguments for which it is meant; none for all.
struct Rules(BTreeMap<i64, Vec<SeccompRule>>);

type Built<T> = Result<T, seccompiler::BackendError>;

impl Rules {
    /// Calls whose arguments a filter cannot see.
    fn unknown() -> Built<Self> {
        let mut rules = Self(BTreeMap::new());
        // Namespaces could be asked for in its structure; libraries then use clone.
        rules.always(&[libc::SYS_clone3]);
        rules.always(lists::HIDDEN_MEMORY);
        Ok(rules)
    }

    /// Attributes of files that a script may not open, which Landlock does not keep it from.
    fn without_attributes(around: Around) -> Built<Self> {
        let mut rules = Self(BTreeMap::new());
        if around != Around::Nothing {
            rules.always(lists::ATTRIBUTES);
        }
        Ok(rules)
    }

    /// Sizes of socket buffers, and modes and times of files by their names. Programs that copy files set them as a matter of course, and nothing
    /// hangs on them in a scratch folder: where they cannot be kept to that folder, they are left as they are.
    fn without_effect(around: Around) -> Built<Self> {
        let mut rules = Self(BTreeMap::new());
        // Programs ask for more as a hint, and the kernel grants what it likes. Buffers are memory that no process has, so
        // their size has to be known.
        for option in lists::BUFFER_SIZES {
            let is_it = [(1, SeccompCmpOp::Eq, lists::SOL_SOCKET), (2, SeccompCmpOp::Eq, *option)];
            rules.when(libc::SYS_setsockopt, &is_it)?;
        }
        if around >= Around::OwnFiles {
            rules.always(lists::MODES);
            // Without a name it is about an open file.
            rules.when_pointer(libc::SYS_utimensat, 1)?;
        }
        if around >= Around::OwnPrograms {
            rules.always(&[libc::SYS_fchmod, libc::SYS_utimensat]);
        }
        Ok(rules)
    }

    fn forbidden(network: bool, signals: Signals, around: Around) -> Built<Self> {
        let mut rules = Self(BTreeMap::new());
        rules.always(lists::OTHER_PROCESSES);
        rules.always(lists::SYSTEM);
        rules.always(lists::SHARED);
        #[cfg(target_arch = "x86_64")]
        rules.always(&[libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt]);
        rules.namespaces()?;
        rules.network(network)?;
        // Only its own limits and priority.
        rules.when(libc::SYS_prlimit64, &[(0, SeccompCmpOp::Ne, 0)])?;
        // What cannot be seen cannot be counted.
        rules.when(libc::SYS_prctl, &[(0, SeccompCmpOp::Eq, lists::PR_SET_DUMPABLE)])?;
        rules.when(libc::SYS_fcntl, &[(1, SeccompCmpOp::Eq, lists::F_SETPIPE_SZ)])?;
        // Letters that appear as if typed at a terminal.
        for request in [lists::TIOCSTI, lists::TIOCLINUX] {
            rules.when(libc::SYS_ioctl, &[(1, SeccompCmpOp::Eq, request)])?;
        }
        if signals == Signals::Denied {
            rules.always(lists::SIGNALS);
            // A signal whenever something happens to an open file, to whomever.
            for command in lists::OWNERS {
                rules.when(libc::SYS_fcntl, &[(1, SeccompCmpOp::Eq, *command)])?;
            }
            for request in lists::OWNER_REQUESTS {
                rules.when(libc::SYS_ioctl, &[(1, SeccompCmpOp::Eq, *request)])?;
            }
        }
        if around != Around::Nothing {
            // What happens to files elsewhere, and where other processes run.
            rules.always(&[libc::SYS_inotify_add_watch]);
            rules.when(libc::SYS_fcntl, &[(1, SeccompCmpOp::Eq, lists::F_NOTIFY)])?;
            rules.when(libc::SYS_sched_setaffinity, &[(0, SeccompCmpOp::Ne, 0)])?;
        }
        if around >= Around::OwnFiles {
            rules.always(lists::OWNERSHIP);
        }
        if around >= Around::OwnPrograms {
            rules.always(&[libc::SYS_fchown, libc::SYS_fsetxattr, libc::SYS_fremovexattr]);
        }
        Ok(rules)
    }

    fn always(&mut self, calls: &[i64]) {
        for call in calls {
            self.0.insert(*call, Vec::new());
        }
    }

    /// Where all of these hold.
    fn when(&mut self, call: i64, conditions: &[(u8, SeccompCmpOp, u64)]) -> Built<()> {
        let conditions = conditions
            .iter()
            .map(|(index, op, value)| {
                SeccompCondition::new(*index, SeccompCmpArgLen::Dword, op.clone(), *value)
            })
            .collect::<Built<Vec<_>>>()?;
        self.0.entry(call).or_default().push(SeccompRule::new(conditions)?);
        Ok(())
    }

    fn namespaces(&mut self) -> Built<()> {
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

    fn network(&mut self, network: bool) -> Built<()> {
        let family = |family: i32| u64::from(family.cast_unsigned());
        // Nobody is waited for, with or without a network.
        self.always(&[libc::SYS_listen, libc::SYS_accept, libc::SYS_accept4]);
        match network {
            false => {
                self.always(&[
                    libc::SYS_socket,
                    libc::SYS_connect,
                    libc::SYS_bind,
                    libc::SYS_sendmsg,
                    libc::SYS_sendmmsg,
                ]);
                // Writing to a pair of one's own names nobody.
                self.when_pointer(libc::SYS_sendto, 4)?;
            }
            // Sockets by path or abstract name lead to services of this machine, and others deeper still.
            true => {
                self.when(
                    libc::SYS_socket,
                    &[
                        (0, SeccompCmpOp::Ne, family(libc::AF_INET)),
                        (0, SeccompCmpOp::Ne, family(libc::AF_INET6)),
                        (0, SeccompCmpOp::Ne, family(libc::AF_NETLINK)),
                    ],
                )?;
                // Resolvers ask for addresses and routes; other protocols are about other sockets, audits and firewalls.
                let route = u64::from(libc::NETLINK_ROUTE.cast_unsigned());
                self.when(
                    libc::SYS_socket,
                    &[(0, SeccompCmpOp::Eq, family(libc::AF_NETLINK)), (2, SeccompCmpOp::Ne, route)],
                )?;
            }
        }
        // A pair is good for talking to oneself, unless it can be pointed at somebody else afterwards.
        self.when(libc::SYS_socketpair, &[(0, SeccompCmpOp::Ne, family(libc::AF_UNIX))])?;
        for kind in 0..=15_u64 {
            if kind != u64::from(libc::SOCK_STREAM.cast_unsigned()) {
                self.when(libc::SYS_socketpair, &[(1, SeccompCmpOp::MaskedEq(15), kind)])?;
            }
        }
        Ok(())
    }

    /// Where a pointer is not null.
    fn when_pointer(&mut self, call: i64, index: u8) -> Built<()> {
        let condition = SeccompCondition::new(index, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
        self.0.entry(call).or_default().push(SeccompRule::new(vec![condition])?);
        Ok(())
    }
}
