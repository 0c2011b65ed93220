//! A server in a process of its own, to be killed or told to end at any moment: this very program, started again to run the one
//! test that serves what its environment says.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use prowess::Preset;
use prowess_chat::store::{Address, Options as StoreOptions, open_with};
use prowess_config::Provider;
use prowess_server::{Options, Server};
use tokio_util::sync::CancellationToken;

use super::{Client, Place, parts, talking};

const NAME: &str = "several::a_process_that_serves";

/// A server in a process of its own. It is killed when it is dropped.
pub struct Process {
    child: Child,
    pub client: Client,
    /// Whoever writes to what nobody reads fails.
    _lines: BufReader<ChildStdout>,
}

impl Process {
    /// Serves chats with a model at this address.
    pub fn start(place: &Place, model: &str) -> Self {
        Self::start_in(place, model, Command::new(std::env::current_exe().unwrap()))
    }

    /// The same, started by something else, which is given this program's path last.
    pub fn start_in(place: &Place, model: &str, mut command: Command) -> Self {
        command.args(["--exact", NAME, "--nocapture", "--test-threads=1"]);
        command.env("PROWESS_TEST_STORE", place.address()).env("PROWESS_TEST_MODEL", model);
        command.env("PROWESS_TEST_LEASE", place.options.lease.as_millis().to_string());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut read = BufReader::new(child.stdout.take().unwrap());
        let lines = read.by_ref().lines();
        let at = lines
            .map_while(Result::ok)
            .find_map(|line| line.split_once("serving at ").map(|(_, at)| at.trim().parse().unwrap()));
        Self { client: Client::new(at.expect("it says where it serves")), child, _lines: read }
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// kill -9.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Asks it to end, and waits; whether all went well.
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

/// What the process does. Without anything in the environment it is a test that has nothing to do.
pub async fn serve_if_asked() {
    let Ok(address) = std::env::var("PROWESS_TEST_STORE") else { return };
    let model = std::env::var("PROWESS_TEST_MODEL").unwrap();
    let lease = Duration::from_millis(std::env::var("PROWESS_TEST_LEASE").unwrap().parse().unwrap());
    let world = talking(Preset::Chat, Provider::OpenAiChat, &model);
    let options = StoreOptions { lease, busy: Duration::from_millis(500), ..StoreOptions::default() };
    let store = open_with(&Address::parse(&address).unwrap(), options).await.unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let told = stop.clone();
    tokio::spawn(async move {
        use tokio::signal::unix::{SignalKind, signal};
        signal(SignalKind::terminate()).unwrap().recv().await;
        told.cancel();
    });
    let options = Options { grace: Duration::from_millis(300), ..Options::default() };
    let server = Server::new(Box::new(parts(&world)), Arc::clone(&store), options, stop).unwrap();
    // It is read by whoever started this, in one piece.
    println!("serving at {at}");
    server.serve(listener).await.unwrap();
}
