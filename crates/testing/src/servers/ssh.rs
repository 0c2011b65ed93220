//! git over ssh: the real `sshd`, for the user who runs the tests, with keys that live as long as it.

use std::fs;
use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Whether the server passes the wish for another version of git's protocol on. Few do without being told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Versions {
    Any,
    Old,
}

/// A running `sshd`.
pub struct Server {
    folder: tempfile::TempDir,
    child: Child,
    port: u16,
}

impl Server {
    pub fn start(versions: Versions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["host", "client", "stranger"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(folder.path().join(name))
                .status();
            assert!(made.unwrap().success());
        }
        fs::copy(folder.path().join("client.pub"), folder.path().join("authorized")).unwrap();
        // Somebody may take the port between our finding it and the server's: then there is another.
        for _ in 0..10 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut child = spawn(folder.path(), port, versions);
            for _ in 0..250 {
                if child.try_wait().unwrap().is_some() {
                    break;
                }
                if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                    let server = Self { folder, child, port };
                    server.configure();
                    return server;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            let _ = child.kill();
            let _ = child.wait();
        }
        let log = fs::read_to_string(folder.path().join("log")).unwrap_or_default();
        panic!("sshd does not start (Debian has it in openssh-server):\n{log}");
    }

    /// The line for `GIT_SSH_COMMAND` that connects here.
    pub fn command(&self) -> String {
        format!("ssh -F {}", self.folder.path().join("config").display())
    }

    /// The same with a key that the server does not know.
    pub fn stranger(&self) -> String {
        self.command().replace("/config", "/strangers-config")
    }

    /// The same without knowing the server's key.
    pub fn unknown(&self) -> String {
        format!("{} -o UserKnownHostsFile=/dev/null", self.command())
    }

    /// The URL of a path on this machine.
    pub fn url(&self, path: &Path) -> String {
        format!("ssh://127.0.0.1:{}{}", self.port, path.display())
    }

    /// The same as `host:path`, by the name that the configuration gives the server.
    pub fn short(&self, path: &Path) -> String {
        format!("prowess-test:{}", path.display())
    }

    fn configure(&self) {
        let at = |name: &str| self.folder.path().join(name).display().to_string();
        let host = fs::read_to_string(self.folder.path().join("host.pub")).unwrap();
        fs::write(at("known"), format!("[127.0.0.1]:{} {host}", self.port)).unwrap();
        let config = |key: &str| {
            format!(
                "Host prowess-test\n  HostName 127.0.0.1\n  Port {}\nHost *\n  IdentityFile {}\n  IdentitiesOnly yes\n  \
             IdentityAgent none\n  UserKnownHostsFile {}\n  GlobalKnownHostsFile /dev/null\n  \
             StrictHostKeyChecking yes\n",
                self.port,
                at(key),
                at("known")
            )
        };
        fs::write(at("config"), config("client")).unwrap();
        fs::write(at("strangers-config"), config("stranger")).unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(folder: &Path, port: u16, versions: Versions) -> Child {
    let at = |name: &str| folder.join(name).display().to_string();
    let mut config = format!(
        "ListenAddress 127.0.0.1\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\n\
         PidFile none\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n",
        at("host"),
        at("authorized")
    );
    if versions == Versions::Any {
        config.push_str("AcceptEnv GIT_PROTOCOL\n");
    }
    fs::write(at("sshd_config"), config).unwrap();
    // Where root keeps it; whoever is not root needs none.
    let _ = fs::create_dir_all("/run/sshd");
    Command::new(sshd())
        .args(["-D", "-e", "-f", &at("sshd_config")])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(at("log")).unwrap())
        .spawn()
        .unwrap()
}

/// It has to be started by its whole path, and is not in everybody's.
fn sshd() -> PathBuf {
    let folders = ["/usr/sbin", "/usr/local/sbin", "/usr/bin", "/opt/homebrew/sbin"];
    let found = folders.iter().map(|folder| Path::new(folder).join("sshd")).find(|path| path.exists());
    found.expect("sshd is needed for these tests; Debian has it in openssh-server")
}

/// Listens, and never says a word.
pub fn silent() -> (TcpListener, String) {
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
