//! System calls by the reason for which they are denied.

/// Requests that insert input into a terminal, directly or through the console selection.
pub(super) const TIOCSTI: u64 = 0x5412;
pub(super) const TIOCLINUX: u64 = 0x541C;

/// Calls that inspect or change other processes.
pub(super) const OTHER_PROCESSES: &[i64] = &[
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

/// Calls that change the system, and parts of the kernel with many past vulnerabilities.
pub(super) const SYSTEM: &[i64] = &[
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

/// Shared memory, queues and semaphores that other processes of the user can access by number or name.
pub(super) const SHARED: &[i64] = &[
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

/// Calls that send signals.
pub(super) const SIGNALS: &[i64] = &[
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
];

/// Memory that is not counted: files without a directory entry, and pages that no other process can read. Such files
/// could also be executed.
///
/// `vmsplice` lends pages to a pipe, where they stay after the process has freed them.
pub(super) const HIDDEN_MEMORY: &[i64] =
    &[libc::SYS_memfd_create, libc::SYS_memfd_secret, libc::SYS_vmsplice];

/// The command of `prctl` that hides the open files of a process from others.
pub(super) const PR_SET_DUMPABLE: u64 = 4;

/// The command of `fcntl` that sets the size of a pipe.
pub(super) const F_SETPIPE_SZ: u64 = 1031;

/// The command of `fcntl` that reports changes in a directory.
pub(super) const F_NOTIFY: u64 = 1026;

/// The level of socket options that apply to all sockets.
pub(super) const SOL_SOCKET: u64 = 1;

/// Options that set the buffer sizes of a socket: `SO_SNDBUF`, `SO_RCVBUF` and their `FORCE` variants.
pub(super) const BUFFER_SIZES: &[u64] = &[7, 8, 32, 33];

/// Options that attach programs to a socket, which the kernel keeps in memory of its own: `SO_ATTACH_FILTER`,
/// `SO_ATTACH_BPF` and their variants for shared ports.
pub(super) const SOCKET_PROGRAMS: &[u64] = &[26, 50, 51, 52];

/// The flag of urgent data. UNIX sockets hardly ever use it, and it had vulnerabilities.
pub(super) const MSG_OOB: u64 = 1;

/// Commands of `fcntl` that set the receiver of signals for an open file: `F_SETOWN` and `F_SETOWN_EX`.
pub(super) const FCNTL_SET_SIGNAL_OWNER: &[u64] = &[8, 15];

/// Requests of `ioctl` that set the receiver of signals for an open file: `FIOSETOWN` and `SIOCSPGRP`.
pub(super) const IOCTL_SET_SIGNAL_OWNER: &[u64] = &[0x8901, 0x8902];

/// Calls for extended attributes of files by name.
pub(super) const ATTRIBUTES: &[i64] = &[
    libc::SYS_getxattr,
    libc::SYS_lgetxattr,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
];

/// Calls that set modes and times of files by name.
#[cfg(target_arch = "x86_64")]
pub(super) const MODES: &[i64] = &[
    libc::SYS_chmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];

/// Calls that set modes and times of files by name.
#[cfg(not(target_arch = "x86_64"))]
pub(super) const MODES: &[i64] = &[libc::SYS_fchmodat, libc::SYS_fchmodat2];

/// Calls that set owners of files by name.
#[cfg(target_arch = "x86_64")]
pub(super) const CHANGE_FILE_OWNER: &[i64] = &[libc::SYS_chown, libc::SYS_lchown, libc::SYS_fchownat];

/// Calls that set owners of files by name.
#[cfg(not(target_arch = "x86_64"))]
pub(super) const CHANGE_FILE_OWNER: &[i64] = &[libc::SYS_fchownat];
