//! A PostgreSQL server for one test, with its own data directory and port. It ends with the test, even if the test is killed.

use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The uid of `nobody`, which runs the server if the tests run as root. PostgreSQL refuses to run as root.
const NOBODY: &str = "65534";

/// A database server. It is stopped on drop.
pub struct PostgresServer {
    dir: TempDir,
    /// The local port.
    pub port: u16,
    running: Option<Child>,
    /// Settings for the next start, such as `max_connections=3`.
    pub settings: Vec<String>,
}

impl Default for PostgresServer {
    fn default() -> Self {
        Self::new()
    }
}

impl PostgresServer {
    /// Starts a server.
    pub fn start() -> Self {
        let mut server = Self::new();
        server.run();
        server
    }

    /// Creates a server without starting it.
    pub fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("prowess-postgres-").tempdir().unwrap();
        let data = dir.path().join("data");
        run_checked(Command::new("cp").arg("-a").arg(template()).arg(&data));
        if is_root() {
            run_checked(Command::new("chown").args(["-R", &format!("{NOBODY}:{NOBODY}")]).arg(dir.path()));
        }
        Self { dir, port: 0, running: None, settings: vec![] }
    }

    /// Returns the data directory.
    pub fn data_dir(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// Returns the URL of the database `prowess`, which is empty at first.
    pub fn url(&self) -> String {
        format!("postgresql://prowess@127.0.0.1:{}/prowess", self.port)
    }

    /// Starts the server, on its previous port if it had one.
    pub fn run(&mut self) {
        for _ in 0..5 {
            if self.port == 0 {
                self.port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            }
            if self.try_run() {
                return;
            }
            // Another process may have taken the port; try a new one.
            self.port = 0;
        }
        panic!("PostgreSQL does not start: {}", self.log());
    }

    fn try_run(&mut self) -> bool {
        // The server is ended when this thread, which runs the test, exits.
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "QUIT"]);
        if is_root() {
            command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]);
        }
        let log = File::create(self.dir.path().join("log")).unwrap();
        command.arg("--").arg(program("postgres")).arg("-D").arg(self.data_dir());
        command.args(["-p", &self.port.to_string(), "-c", "listen_addresses=127.0.0.1"]);
        let settings = ["unix_socket_directories=", "fsync=off", "shared_buffers=16MB", "autovacuum=off"];
        for setting in settings.into_iter().chain(self.settings.iter().map(String::as_str)) {
            command.args(["-c", setting]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).current_dir("/");
        let mut child = command.spawn().expect("cannot run setpriv; on Debian, install util-linux");
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

    /// Returns the log since the last start.
    pub fn log(&self) -> String {
        fs::read_to_string(self.dir.path().join("log")).unwrap_or_default()
    }

    /// Stops the server: `INT` shuts it down cleanly, `QUIT` simulates a power failure.
    pub fn stop(&mut self, signal: &str) {
        if let Some(mut child) = self.running.take() {
            run_checked(Command::new("kill").args(["-s", signal, &child.id().to_string()]));
            child.wait().unwrap();
        }
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.stop("QUIT");
    }
}

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

/// Returns the path of a PostgreSQL program. Debian installs them in a directory per version that is not in `PATH`.
pub fn program(name: &str) -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut installed: Vec<_> = versions.map(|version| version.path().join("bin").join(name)).collect();
    installed.retain(|path| path.is_file());
    installed.sort();
    let in_path = std::env::var_os("PATH")
        .and_then(|path| std::env::split_paths(&path).map(|dir| dir.join(name)).find(|path| path.is_file()));
    installed.pop().or(in_path).unwrap_or_else(|| panic!("cannot find {name}; on Debian, install postgresql"))
}

/// Returns the data directory of an empty database. It is created once and copied for every test.
fn template() -> PathBuf {
    // In the target directory, which all crates share.
    let test = std::env::current_exe().unwrap();
    let dir = test.ancestors().nth(3).unwrap().join("tmp");
    fs::create_dir_all(&dir).unwrap();
    let template = dir.join("postgres-template-1");
    let lock = File::create(dir.join("postgres-template.lock")).unwrap();
    lock.lock().unwrap();
    if !template.exists() {
        let scratch = tempfile::Builder::new().prefix("prowess-postgres-").tempdir().unwrap();
        if is_root() {
            run_checked(Command::new("chown").arg(format!("{NOBODY}:{NOBODY}")).arg(scratch.path()));
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
        run_checked(command.args(["--wal-segsize=1"]));
        // Create the database in single-user mode, without a server.
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
        run_checked(single.stdin(File::open(&sql).unwrap()));
        let staged = dir.join("postgres-template-staged");
        let _ = fs::remove_dir_all(&staged);
        run_checked(Command::new("cp").arg("-a").arg(&data).arg(&staged));
        fs::rename(&staged, &template).unwrap();
    }
    template
}

/// Runs a command. Panics if it fails.
pub fn run_checked(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
