//! A second process that uses the same store and can be killed at any moment: this program, started again to run the test in
//! this file with a job from its environment.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use prowess_chat::store::{StoreAddress, StoreError, StoreOptions, TurnWriter, open_with};
use prowess_chat::{EndReason, TurnOutcome};

use crate::store::support::{TestStore, delta, message_text, new_chat};

const NAME: &str = "store::child::a_process_writes_word_after_word";

/// The job of a process.
#[derive(Debug, Clone, Copy)]
pub enum Job {
    /// Writes text until it is killed, and notes each part that is stored.
    Write,
    /// Locks the file.
    Lock,
    /// Opens the store.
    Open,
    /// Fills the disk of the store.
    Fill,
}

impl Job {
    const ALL: [Self; 4] = [Self::Write, Self::Lock, Self::Open, Self::Fill];

    fn name(self) -> String {
        format!("{self:?}")
    }
}

/// A running process. It is killed on drop.
pub struct Process {
    child: Child,
    notes: PathBuf,
}

impl Process {
    pub fn start(fixture: &TestStore, job: Job) -> Self {
        Self::start_in(fixture, job, Command::new(std::env::current_exe().unwrap()))
    }

    /// [`start`](Self::start) with another command. A shell receives the path of this program as `$0`.
    pub fn start_in(fixture: &TestStore, job: Job, mut command: Command) -> Self {
        let notes =
            fixture.dir.path().join(format!("notes-{}", fs::read_dir(fixture.dir.path()).unwrap().count()));
        fs::write(&notes, "").unwrap();
        command.args(["--exact", NAME, "--nocapture"]).env("PROWESS_TEST_JOB", job.name());
        command.env("PROWESS_TEST_STORE", fixture.address()).env("PROWESS_TEST_NOTES", &notes);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Self { child, notes }
    }

    /// Returns the complete lines that were noted so far.
    pub fn notes(&self) -> Vec<String> {
        let notes = fs::read_to_string(&self.notes).unwrap();
        notes.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).map(String::from).collect()
    }

    /// Waits until this many lines are noted. Panics if the process ends before.
    pub async fn wait_for_notes(&mut self, lines: usize) -> Vec<String> {
        loop {
            let notes = self.notes();
            if notes.len() >= lines {
                return notes;
            }
            assert!(self.child.try_wait().unwrap().is_none(), "the process ended after {notes:?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Waits for the process and returns whether it succeeded.
    pub fn wait(&mut self) -> bool {
        self.child.wait().unwrap().success()
    }

    /// Kills the process with SIGKILL.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Writes `count` words, each stored before the next one.
async fn write(
    address: &StoreAddress,
    count: usize,
    mut note: impl FnMut(&str),
) -> Result<String, StoreError> {
    let store = open_with(address, StoreOptions::default()).await?;
    let chat = new_chat(&store).await;
    note(&chat.id);
    let (_, turn) = store.ask(&chat.id, "count".into()).await?;
    let mut writer = TurnWriter::new(store.clone(), turn);
    for n in 0..count {
        writer.push(delta(&format!("{n} "))).await?;
        writer.flush().await?;
        note(&n.to_string());
    }
    writer.end(TurnOutcome::finished(EndReason::Finished, None)).await?;
    Ok(message_text(&crate::store::support::messages(&store, &chat.id).await[1]))
}

/// Fills a disk, tries to write, frees space, and writes.
async fn fill(path: &Path, address: &StoreAddress, mut note: impl FnMut(&str)) -> Result<(), StoreError> {
    let store = open_with(address, StoreOptions::default()).await?;
    let chat = new_chat(&store).await;
    store.add_user_message(&chat.id, "before").await?;
    let filler = path.with_file_name("filler");
    let mut file = fs::File::create(&filler).unwrap();
    let mut block = vec![0; 64 * 1024];
    while !block.is_empty() {
        if file.write_all(&block).is_err() {
            block.truncate(block.len() / 2);
        }
    }
    let refused = store.add_user_message(&chat.id, &"x".repeat(1_000_000)).await.unwrap_err();
    note(refused.code().as_str());
    note(&store.messages(&chat.id, None, 10).await?.messages.len().to_string());
    note(store.check().await.map_or_else(|error| error.code().as_str(), |()| "ready"));
    let turn = loop {
        // There may be room for a small write.
        match store.begin_turn(&chat.id).await {
            Ok(turn) => break turn,
            Err(error) => {
                note(error.code().as_str());
                file.set_len(16 * 1024).unwrap();
            }
        }
    };
    let mut writer = TurnWriter::new(store.clone(), turn);
    writer.push(delta(&"y".repeat(1_000_000))).await?;
    tokio::time::sleep(Duration::from_millis(200)).await;
    drop(file);
    fs::remove_file(filler).unwrap();
    store.check().await?;
    // In the test with a file size limit, raise the limit:
    let ours = std::process::id().to_string();
    prowess_testing::postgres::run_checked(Command::new("prlimit").args([
        "--pid",
        &ours,
        "--fsize=unlimited:",
    ]));
    writer.end(TurnOutcome::finished(EndReason::Finished, None)).await?;
    let stored = crate::store::support::messages(&store, &chat.id).await;
    note(&format!("{} {}", message_text(&stored[0]), message_text(&stored[1]).len()));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_writes_word_after_word() {
    let Ok(job) = std::env::var("PROWESS_TEST_JOB") else {
        // Not started as a child: run the job to its end.
        let fixture = TestStore::sqlite();
        let mut notes = 0;
        let stored = write(&StoreAddress::File(fixture.file()), 20, |_| notes += 1).await.unwrap();
        assert_eq!((stored.split_whitespace().count(), notes), (20, 21));
        return;
    };
    let job = Job::ALL.into_iter().find(|known| known.name() == job).unwrap();
    let address = StoreAddress::parse(&std::env::var("PROWESS_TEST_STORE").unwrap()).unwrap();
    let mut notes =
        OpenOptions::new().append(true).open(std::env::var_os("PROWESS_TEST_NOTES").unwrap()).unwrap();
    let mut note = |text: &str| writeln!(notes, "{text}").unwrap();
    match (job, &address) {
        (Job::Write, _) => drop(write(&address, usize::MAX, note).await.unwrap()),
        (Job::Open, _) => match open_with(&address, StoreOptions::default()).await {
            Ok(_) => note("open"),
            Err(error) => note(&error.to_string()),
        },
        (Job::Lock, StoreAddress::File(path)) => {
            let connection = rusqlite::Connection::open(path).unwrap();
            connection.execute_batch("BEGIN IMMEDIATE").unwrap();
            note("locked");
            std::future::pending::<()>().await;
        }
        (Job::Fill, StoreAddress::File(path)) => fill(path, &address, note).await.unwrap(),
        (Job::Lock | Job::Fill, StoreAddress::Database(_)) => panic!("this is about files"),
    }
}
