//! Another process that uses the same store, to be killed at any moment: this very program, started again to run the one test of
//! this file with a job in its environment.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use prowess_chat::store::{Address, Options, StoreError, TurnWriter, open_with};
use prowess_chat::{End, Ending};

use crate::store::world::{World, new_chat, said, words};

const NAME: &str = "store::child::a_process_writes_word_after_word";

/// What a process is told to do.
#[derive(Debug, Clone, Copy)]
pub enum Job {
    /// Says words until it is killed, and notes each that is kept.
    Write,
    /// Holds the file.
    Lock,
    /// Opens the store.
    Open,
    /// Fills the disk that the store is on.
    Fill,
}

impl Job {
    const ALL: [Self; 4] = [Self::Write, Self::Lock, Self::Open, Self::Fill];

    fn name(self) -> String {
        format!("{self:?}")
    }
}

/// A process at work. It is killed when it is dropped.
pub struct Process {
    child: Child,
    notes: PathBuf,
}

impl Process {
    pub fn start(world: &World, job: Job) -> Self {
        Self::start_in(world, job, Command::new(std::env::current_exe().unwrap()))
    }

    /// The same, started by something else, which is given this program's path as `$0` if it is a shell.
    pub fn start_in(world: &World, job: Job, mut command: Command) -> Self {
        let notes =
            world.folder.path().join(format!("notes-{}", fs::read_dir(world.folder.path()).unwrap().count()));
        fs::write(&notes, "").unwrap();
        command.args(["--exact", NAME, "--nocapture"]).env("PROWESS_TEST_JOB", job.name());
        command.env("PROWESS_TEST_STORE", world.address()).env("PROWESS_TEST_NOTES", &notes);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Self { child, notes }
    }

    /// What it has noted so far, without a line that is being written.
    pub fn notes(&self) -> Vec<String> {
        let notes = fs::read_to_string(&self.notes).unwrap();
        notes.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).map(String::from).collect()
    }

    /// Waits until it has noted this much, and fails if it ends before.
    pub async fn noted(&mut self, lines: usize) -> Vec<String> {
        loop {
            let notes = self.notes();
            if notes.len() >= lines {
                return notes;
            }
            assert!(self.child.try_wait().unwrap().is_none(), "it ended after {notes:?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Waits for its end; whether all went well.
    pub fn wait(&mut self) -> bool {
        self.child.wait().unwrap().success()
    }

    /// kill -9.
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

/// Words, one after the other, each kept before the next is said. `count` ends them.
async fn write(address: &Address, count: usize, mut note: impl FnMut(&str)) -> Result<String, StoreError> {
    let store = open_with(address, Options::default()).await?;
    let chat = new_chat(&store).await;
    note(&chat.id);
    let (_, turn) = store.ask(&chat.id, "count").await?;
    let mut writer = TurnWriter::new(store.clone(), turn);
    for n in 0..count {
        writer.push(said(&format!("{n} "))).await?;
        writer.flush().await?;
        note(&n.to_string());
    }
    writer.end(Ending::finished(End::Finished, None)).await?;
    Ok(words(&crate::store::world::messages(&store, &chat.id).await[1]))
}

/// Fills a disk, tries to say something, makes room, and says it.
async fn fill(path: &Path, address: &Address, mut note: impl FnMut(&str)) -> Result<(), StoreError> {
    let store = open_with(address, Options::default()).await?;
    let chat = new_chat(&store).await;
    store.say(&chat.id, "before").await?;
    let filler = path.with_file_name("filler");
    let mut file = fs::File::create(&filler).unwrap();
    let mut block = vec![0; 64 * 1024];
    while !block.is_empty() {
        if file.write_all(&block).is_err() {
            block.truncate(block.len() / 2);
        }
    }
    let refused = store.say(&chat.id, &"x".repeat(1_000_000)).await.unwrap_err();
    note(refused.code().as_str());
    note(&store.messages(&chat.id, None, 10).await?.messages.len().to_string());
    note(store.check().await.map_or_else(|error| error.code().as_str(), |()| "ready"));
    let turn = loop {
        // There may be room for a little.
        match store.begin(&chat.id).await {
            Ok(turn) => break turn,
            Err(error) => {
                note(error.code().as_str());
                file.set_len(16 * 1024).unwrap();
            }
        }
    };
    let mut writer = TurnWriter::new(store.clone(), turn);
    writer.push(said(&"y".repeat(1_000_000))).await?;
    tokio::time::sleep(Duration::from_millis(200)).await;
    drop(file);
    fs::remove_file(filler).unwrap();
    store.check().await?;
    // And where it is a limit that stands for the disk:
    let ours = std::process::id().to_string();
    prowess_testing::postgres::done(Command::new("prlimit").args(["--pid", &ours, "--fsize=unlimited:"]));
    writer.end(Ending::finished(End::Finished, None)).await?;
    let kept = crate::store::world::messages(&store, &chat.id).await;
    note(&format!("{} {}", words(&kept[0]), words(&kept[1]).len()));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_writes_word_after_word() {
    let Ok(job) = std::env::var("PROWESS_TEST_JOB") else {
        // Nobody's child: the same job, to its end.
        let world = World::sqlite();
        let mut notes = 0;
        let kept = write(&Address::File(world.file()), 20, |_| notes += 1).await.unwrap();
        assert_eq!((kept.split_whitespace().count(), notes), (20, 21));
        return;
    };
    let job = Job::ALL.into_iter().find(|known| known.name() == job).unwrap();
    let address = Address::parse(&std::env::var("PROWESS_TEST_STORE").unwrap()).unwrap();
    let mut notes =
        OpenOptions::new().append(true).open(std::env::var_os("PROWESS_TEST_NOTES").unwrap()).unwrap();
    let mut note = |text: &str| writeln!(notes, "{text}").unwrap();
    match (job, &address) {
        (Job::Write, _) => drop(write(&address, usize::MAX, note).await.unwrap()),
        (Job::Open, _) => match open_with(&address, Options::default()).await {
            Ok(_) => note("open"),
            Err(error) => note(&error.to_string()),
        },
        (Job::Lock, Address::File(path)) => {
            let connection = rusqlite::Connection::open(path).unwrap();
            connection.execute_batch("BEGIN IMMEDIATE").unwrap();
            note("locked");
            std::future::pending::<()>().await;
        }
        (Job::Fill, Address::File(path)) => fill(path, &address, note).await.unwrap(),
        (Job::Lock | Job::Fill, Address::Database(_)) => panic!("this is about files"),
    }
}
