//! Which calls the kernel refuses a script.
//!
//! Three filters are installed on top of each other, and the strictest answer counts: one for calls that no program of
//! this machine's own kind makes, one for calls that are said not to exist, so that programs take another way, and one
//! for calls that are forbidden.

use std::collections::BTreeMap;

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
pub(super) fn apply(network: bool, signals: Signals) -> Result<(), String> {
    let told = |error: &dyn std::fmt::Display| format!("seccomp: {error}");
    let arch: TargetArch =
        std::env::consts::ARCH.try_into().map_err(|_| "seccomp: this processor is not known".to_owned())?;
    let mut filters = vec![own_kind(arch)];
    for (rules, errno) in
        [(Rules::unknown(), libc::ENOSYS), (Rules::forbidden(network, signals), libc::EPERM)]
    {
        let rules = rules.map_err(|error| told(&error))?;
        let action = SeccompAction::Errno(errno.cast_unsigned());
        let filter =
            SeccompFilter::new(rules.0, SeccompAction::Allow, action, arch).map_err(|error| told(&error))?;
        filters.push(filter.try_into().map_err(|error: seccompiler::BackendError| told(&error))?);
    }
    filters.iter().try_for_each(|filter: &BpfProgram| apply_filter(filter).map_err(|error| told(&error)))
}

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
        Ok(rules)
    }

    fn forbidden(network: bool, signals: Signals) -> Built<Self> {
        let mut rules = Self(BTreeMap::new());
        rules.always(OTHER_PROCESSES);
        rules.always(SYSTEM);
        rules.always(SHARED);
        #[cfg(target_arch = "x86_64")]
        rules.always(&[libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt]);
        rules.namespaces()?;
        rules.network(network)?;
        // Only its own limits and priority.
        rules.when(libc::SYS_prlimit64, &[(0, SeccompCmpOp::Ne, 0)])?;
        // Letters that appear as if typed at a terminal.
        for request in [TIOCSTI, TIOCLINUX] {
            rules.when(libc::SYS_ioctl, &[(1, SeccompCmpOp::Eq, request)])?;
        }
        if signals == Signals::Denied {
            rules.always(SIGNALS);
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
            true => self.when(
                libc::SYS_socket,
                &[
                    (0, SeccompCmpOp::Ne, family(libc::AF_INET)),
                    (0, SeccompCmpOp::Ne, family(libc::AF_INET6)),
                    (0, SeccompCmpOp::Ne, family(libc::AF_NETLINK)),
                ],
            )?,
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

/// Typing for somebody else, and the same through the console's selection.
const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541C;

/// Looking into other processes, and changing them.
const OTHER_PROCESSES: &[i64] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    libc::SYS_setpriority,
    libc::SYS_ioprio_set,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
];

/// Changing the system, and the parts of the kernel in which most holes were found.
const SYSTEM: &[i64] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_lookup_dcookie,
    libc::SYS_nfsservctl,
];

/// Memory, queues and locks that every process of a user can reach by a number or a name.
const SHARED: &[i64] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// Every way to send a signal.
const SIGNALS: &[i64] = &[
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
];
