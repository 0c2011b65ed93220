//! A server in its own process, which can be killed or terminated at any time. It runs this test binary with the one test that
//! serves as configured by environment variables.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use prowess::Preset;
use prowess_chat::store::{StoreAddress, StoreOptions, open_with};
use prowess_config::ChatProvider;
use prowess_server::{Server, ServerOptions};
use tokio_util::sync::CancellationToken;

use super::{Client, TestStore, parts, project_with_model};

const NAME: &str = "multiple_servers::a_process_that_serves";

/// A server in its own process. It is killed on drop.
pub struct Process {
    child: Child,
    pub client: Client,
    /// Kept open, because the process fails when it writes to a closed pipe.
    _lines: BufReader<ChildStdout>,
}

impl Process {
    /// Starts a server that uses the model at this address.
    pub fn start(test_store: &TestStore, model: &str) -> Self {
        Self::start_in(test_store, model, Command::new(std::env::current_exe().unwrap()))
    }

    /// Like [`Process::start`], but started by another command, whose last argument is the path of this binary.
    pub fn start_in(test_store: &TestStore, model: &str, mut command: Command) -> Self {
        command.args(["--exact", NAME, "--nocapture", "--test-threads=1"]);
        command.env("PROWESS_TEST_STORE", test_store.address()).env("PROWESS_TEST_MODEL", model);
        command.env("PROWESS_TEST_LEASE", test_store.options.lease.as_millis().to_string());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut read = BufReader::new(child.stdout.take().unwrap());
        let lines = read.by_ref().lines();
        let at = lines
            .map_while(Result::ok)
            .find_map(|line| line.split_once("serving at ").map(|(_, at)| at.trim().parse().unwrap()));
        Self { client: Client::new(at.expect("the server prints its address")), child, _lines: read }
    }

    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills the process with SIGKILL.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Terminates the process with SIGTERM, and returns whether it succeeded.
    pub fn end(&mut self) -> bool {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-s", "TERM", &pid]).status().unwrap().success());
        self.child.wait().unwrap().success()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Runs the server. Does nothing if the environment variables are not set.
pub async fn serve_if_requested() {
    let Ok(address) = std::env::var("PROWESS_TEST_STORE") else { return };
    let model = std::env::var("PROWESS_TEST_MODEL").unwrap();
    let lease = Duration::from_millis(std::env::var("PROWESS_TEST_LEASE").unwrap().parse().unwrap());
    let env = project_with_model(Preset::Chat, ChatProvider::OpenAiChat, &model);
    let options = StoreOptions { lease, busy_timeout: Duration::from_millis(500), ..StoreOptions::default() };
    let store = open_with(&StoreAddress::parse(&address).unwrap(), options).await.unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let on_signal = stop.clone();
    tokio::spawn(async move {
        use tokio::signal::unix::{SignalKind, signal};
        signal(SignalKind::terminate()).unwrap().recv().await;
        on_signal.cancel();
    });
    let options = ServerOptions { grace: Duration::from_millis(300), ..ServerOptions::default() };
    let server = Server::new(Box::new(parts(&env)), Arc::clone(&store), options, stop).unwrap();
    // The parent process reads this line.
    println!("serving at {at}");
    server.serve(listener).await.unwrap();
}
