//! A real PostgreSQL for one test: its own folder, its own port, an unprivileged user. It ends with the test, even if the test is
//! killed.

use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The user that runs it where tests run as root, which PostgreSQL refuses to: nobody.
const NOBODY: &str = "65534";

/// A database server. It is stopped when it is dropped.
pub struct Server {
    folder: TempDir,
    /// Its port, on this machine.
    pub port: u16,
    running: Option<Child>,
    /// Settings for its next start, such as `max_connections=3`.
    pub settings: Vec<String>,
}

impl Default for Server {
    fn default() -> Self {
        Self::new()
    }
}

impl Server {
    /// A server that runs.
    pub fn start() -> Self {
        let mut server = Self::new();
        server.run();
        server
    }

    /// A server that was not started yet.
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("prowess-postgres-").tempdir().unwrap();
        let data = folder.path().join("data");
        done(Command::new("cp").arg("-a").arg(template()).arg(&data));
        if is_root() {
            done(Command::new("chown").args(["-R", &format!("{NOBODY}:{NOBODY}")]).arg(folder.path()));
        }
        Self { folder, port: 0, running: None, settings: vec![] }
    }

    /// The folder of its data.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The address of an empty database.
    pub fn url(&self) -> String {
        format!("postgresql://prowess@127.0.0.1:{}/prowess", self.port)
    }

    /// Starts it, on the port that it had before.
    pub fn run(&mut self) {
        for _ in 0..5 {
            if self.port == 0 {
                self.port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            }
            if self.try_run() {
                return;
            }
            // Somebody else took the port in between.
            self.port = 0;
        }
        panic!("PostgreSQL does not start: {}", self.log());
    }

    fn try_run(&mut self) -> bool {
        // It dies with this thread, which is the test's.
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "QUIT"]);
        if is_root() {
            command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]);
        }
        let log = File::create(self.folder.path().join("log")).unwrap();
        command.arg("--").arg(program("postgres")).arg("-D").arg(self.data());
        command.args(["-p", &self.port.to_string(), "-c", "listen_addresses=127.0.0.1"]);
        let settings = ["unix_socket_directories=", "fsync=off", "shared_buffers=16MB", "autovacuum=off"];
        for setting in settings.into_iter().chain(self.settings.iter().map(String::as_str)) {
            command.args(["-c", setting]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).current_dir("/");
        let mut child = command.spawn().expect("setpriv is there (Debian: util-linux)");
        let until = Instant::now() + Duration::from_secs(60);
        while Instant::now() < until {
            if child.try_wait().unwrap().is_some() {
                return false;
            }
            if self.log().contains("ready to accept connections") {
                self.running = Some(child);
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = child.kill();
        let _ = child.wait();
        false
    }

    /// What it has logged.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// `INT` ends it in order, `QUIT` as if the power failed.
    pub fn stop(&mut self, signal: &str) {
        if let Some(mut child) = self.running.take() {
            done(Command::new("kill").args(["-s", signal, &child.id().to_string()]));
            child.wait().unwrap();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop("QUIT");
    }
}

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

/// A program of PostgreSQL. Debian keeps them apart by version and out of the PATH.
pub fn program(name: &str) -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<_> = versions.map(|version| version.path().join("bin").join(name)).collect();
    found.retain(|path| path.is_file());
    found.sort();
    let in_path = std::env::var_os("PATH").and_then(|path| {
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
    });
    found
        .pop()
        .or(in_path)
        .unwrap_or_else(|| panic!("{name} is not there; it is in Debian's package postgresql"))
}

/// An empty database, made once and copied for every test.
fn template() -> PathBuf {
    // Beside what was built, whichever crate's tests these are.
    let test = std::env::current_exe().unwrap();
    let folder = test.ancestors().nth(3).unwrap().join("tmp");
    fs::create_dir_all(&folder).unwrap();
    let template = folder.join("postgres-template-1");
    let lock = File::create(folder.join("postgres-template.lock")).unwrap();
    lock.lock().unwrap();
    if !template.exists() {
        let scratch = tempfile::Builder::new().prefix("prowess-postgres-").tempdir().unwrap();
        if is_root() {
            done(Command::new("chown").arg(format!("{NOBODY}:{NOBODY}")).arg(scratch.path()));
        }
        let data = scratch.path().join("data");
        let mut command = Command::new("setpriv");
        if is_root() {
            command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]);
        }
        command.arg("--").arg(program("initdb")).arg("-D").arg(&data).current_dir("/");
        command.args([
            "--username=prowess",
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
            "--no-sync",
        ]);
        done(command.args(["--wal-segsize=1"]));
        // A database of its own, made without a server.
        let mut single = Command::new("setpriv");
        if is_root() {
            single.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]);
        }
        single
            .arg("--")
            .arg(program("postgres"))
            .arg("--single")
            .arg("-D")
            .arg(&data)
            .arg("postgres")
            .current_dir("/");
        let sql = scratch.path().join("sql");
        fs::write(&sql, "CREATE DATABASE prowess\n").unwrap();
        done(single.stdin(File::open(&sql).unwrap()));
        let staged = folder.join("postgres-template-staged");
        let _ = fs::remove_dir_all(&staged);
        done(Command::new("cp").arg("-a").arg(&data).arg(&staged));
        fs::rename(&staged, &template).unwrap();
    }
    template
}

/// Runs a command that has to succeed.
pub fn done(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
