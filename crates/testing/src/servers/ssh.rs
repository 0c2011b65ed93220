//! Git over SSH with a real `sshd`, which runs as the user of the tests with temporary keys.

use std::fs;
use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The versions of the git protocol that the server accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProtocolVersions {
    /// All versions: `sshd` passes `GIT_PROTOCOL` on.
    All,
    /// Only version 0, the default of `sshd`.
    V0,
}

/// A running `sshd`.
pub struct SshServer {
    dir: tempfile::TempDir,
    child: Child,
    port: u16,
}

impl SshServer {
    pub fn start(versions: ProtocolVersions) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["host", "client", "unknown"] {
            let status = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(dir.path().join(name))
                .status();
            assert!(status.unwrap().success());
        }
        fs::copy(dir.path().join("client.pub"), dir.path().join("authorized")).unwrap();
        // Another process may take the port before the server binds it; then try a new one.
        for _ in 0..10 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut child = spawn(dir.path(), port, versions);
            for _ in 0..250 {
                if child.try_wait().unwrap().is_some() {
                    break;
                }
                if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                    let server = Self { dir, child, port };
                    server.configure();
                    return server;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            let _ = child.kill();
            let _ = child.wait();
        }
        let log = fs::read_to_string(dir.path().join("log")).unwrap_or_default();
        panic!("cannot start sshd; on Debian, install openssh-server:\n{log}");
    }

    /// Returns a value of `GIT_SSH_COMMAND` that connects to this server.
    pub fn command(&self) -> String {
        format!("ssh -F {}", self.dir.path().join("config").display())
    }

    /// Returns a [`command`](Self::command) with a key that the server does not accept.
    pub fn command_with_unknown_key(&self) -> String {
        self.command().replace("/config", "/unknown-key-config")
    }

    /// Returns a [`command`](Self::command) that does not know the host key of the server.
    pub fn command_without_host_key(&self) -> String {
        format!("{} -o UserKnownHostsFile=/dev/null", self.command())
    }

    /// Returns the URL of a local path.
    pub fn url(&self, path: &Path) -> String {
        format!("ssh://127.0.0.1:{}{}", self.port, path.display())
    }

    /// Returns the address of a local path as `host:path`, with the host name of the SSH configuration.
    pub fn scp_address(&self, path: &Path) -> String {
        format!("prowess-test:{}", path.display())
    }

    fn configure(&self) {
        let path = |name: &str| self.dir.path().join(name).display().to_string();
        let host = fs::read_to_string(self.dir.path().join("host.pub")).unwrap();
        fs::write(path("known"), format!("[127.0.0.1]:{} {host}", self.port)).unwrap();
        let config = |key: &str| {
            format!(
                "Host prowess-test\n  HostName 127.0.0.1\n  Port {}\nHost *\n  IdentityFile {}\n  IdentitiesOnly yes\n  \
             IdentityAgent none\n  UserKnownHostsFile {}\n  GlobalKnownHostsFile /dev/null\n  \
             StrictHostKeyChecking yes\n",
                self.port,
                path(key),
                path("known")
            )
        };
        fs::write(path("config"), config("client")).unwrap();
        fs::write(path("unknown-key-config"), config("unknown")).unwrap();
    }
}

impl Drop for SshServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(dir: &Path, port: u16, versions: ProtocolVersions) -> Child {
    let path = |name: &str| dir.join(name).display().to_string();
    let mut config = format!(
        "ListenAddress 127.0.0.1\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\n\
         PidFile none\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n",
        path("host"),
        path("authorized")
    );
    if versions == ProtocolVersions::All {
        config.push_str("AcceptEnv GIT_PROTOCOL\n");
    }
    fs::write(path("sshd_config"), config).unwrap();
    // `sshd` requires this directory if it runs as root.
    let _ = fs::create_dir_all("/run/sshd");
    Command::new(sshd())
        .args(["-D", "-e", "-f", &path("sshd_config")])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(path("log")).unwrap())
        .spawn()
        .unwrap()
}

/// Returns the path of `sshd`, which must be started by its absolute path and is often not in `PATH`.
fn sshd() -> PathBuf {
    let dirs = ["/usr/sbin", "/usr/local/sbin", "/usr/bin", "/opt/homebrew/sbin"];
    let found = dirs.iter().map(|dir| Path::new(dir).join("sshd")).find(|path| path.exists());
    found.expect("cannot find sshd; on Debian, install openssh-server")
}

/// Listens on a free local port, accepts connections and never sends anything. Returns the listener and an SSH URL.
pub fn silent_listener() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ssh://127.0.0.1:{}/x", listener.local_addr().unwrap().port());
    let accepting = listener.try_clone().unwrap();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = accepting.accept() {
            std::thread::spawn(move || stream.read_to_end(&mut Vec::new()));
        }
    });
    (listener, url)
}
