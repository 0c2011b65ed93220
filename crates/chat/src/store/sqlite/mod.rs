//! Chats in a file: SQLite, in the program itself. One thread writes, two read; none of them is one of the runtime's.

mod line;
mod owner;
mod trouble;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use tokio::sync::oneshot;

use line::Line;
use owner::Owner;

use super::hub::{Hub, Notice};
use super::sql::{Care, Driver, Sql, Tasks, Work, schema, work};
use super::{Address, Options, StoreError};

/// How many threads read.
const READERS: usize = 2;

/// The least space on the disk that the store is ready with.
const ROOM: u64 = 1024 * 1024;

/// Opens a file, or makes it.
pub(crate) async fn open(path: &Path, options: Options) -> Result<Sql<Sqlite>, StoreError> {
    let path = path.to_owned();
    let opened = tokio::task::spawn_blocking(move || Sqlite::open(path, options)).await;
    let driver = Arc::new(opened.map_err(|error| StoreError::Internal(error.to_string()))??);
    // The first thing that is done is to look for turns that broke off.
    super::sql::sweep(&*driver).await?;
    let mut tasks = Tasks::default();
    tasks.keep(driver.clone(), options.lease / 3);
    Ok(Sql::new(driver, tasks))
}

pub(crate) struct Sqlite {
    path: PathBuf,
    owner: Owner,
    writer: Thread,
    readers: Vec<Thread>,
    next: AtomicUsize,
    full: AtomicBool,
    hub: Arc<Hub>,
}

impl Sqlite {
    fn open(path: PathBuf, options: Options) -> Result<Self, StoreError> {
        make(&path).map_err(|error| trouble::of_io(&path, &error))?;
        let owner = Owner::enter(&path).map_err(|error| trouble::of_io(&path, &error))?;
        let mut line = Line::open(&path, options.busy)?;
        line.is_ours()?;
        line.prepare_to_write()?;
        line.transact(
            "BEGIN IMMEDIATE",
            work(|tx| {
                Box::pin(async move {
                    tx.execute(schema::TABLE, vec![]).await?;
                    schema::migrate(tx).await
                })
            }),
        )?;
        let readers = (0..READERS)
            .map(|_| {
                let mut line = Line::open(&path, options.busy)?;
                line.prepare_to_read()?;
                Thread::start(line)
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            owner,
            writer: Thread::start(line)?,
            readers,
            next: AtomicUsize::new(0),
            full: AtomicBool::new(false),
            hub: Arc::default(),
            path,
        })
    }
}

/// Chats are nobody else's business: the folder and the file are for the user alone, if we make them.
fn make(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        prowess_fs::make_private_folders(folder)?;
    }
    match prowess_fs::create_private(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

impl Driver for Sqlite {
    async fn write<T: Send + 'static>(&self, care: Care, work: Work<T>) -> Result<T, StoreError> {
        let written = self
            .writer
            .run(move |line| {
                line.care(care)?;
                // The right to write is taken first: taken later, it could be refused half-way.
                line.transact("BEGIN IMMEDIATE", work)
            })
            .await;
        self.full.store(matches!(written, Err(StoreError::Full)), Ordering::Relaxed);
        written
    }

    async fn read<T: Send + 'static>(&self, work: Work<T>) -> Result<T, StoreError> {
        let next = self.next.fetch_add(1, Ordering::Relaxed) % READERS;
        self.readers[next].run(move |line| line.transact("BEGIN", work)).await
    }

    fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    fn has_room(&self) -> bool {
        // The file itself, because it may be in the working directory, which has no name here.
        prowess_fs::free_space(&self.path).is_ok_and(|free| free >= ROOM)
    }

    fn owner(&self) -> &str {
        self.owner.id()
    }

    /// The lock of the owner says it all the time.
    async fn beat(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// What was deleted was overwritten in the file; older pages of it may still stand in the log.
    async fn wipe(&self) {
        let _ = self.writer.run(|line| line.empty_the_log()).await;
    }

    fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    /// Nobody is told: other processes look by themselves.
    fn tell(&self, _: Notice) {}

    fn place(&self) -> String {
        Address::File(self.path.clone()).to_string()
    }
}

type Job = Box<dyn FnOnce(&mut Line) + Send>;

/// A thread with a connection, which does one thing after the other. It ends when nobody can ask any more.
struct Thread {
    jobs: mpsc::Sender<Job>,
}

impl Thread {
    fn start(mut line: Line) -> Result<Self, StoreError> {
        let (jobs, asked) = mpsc::channel::<Job>();
        std::thread::Builder::new()
            .name("prowess-store".to_owned())
            .spawn(move || asked.iter().for_each(|job| job(&mut line)))
            .map_err(|error| StoreError::Internal(format!("no thread could be started: {error}")))?;
        Ok(Self { jobs })
    }

    async fn run<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Line) -> Result<T, StoreError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let stopped = || StoreError::Internal("the thread of the store has stopped".to_owned());
        // That nobody waits for the answer any more is fine: it is done all the same.
        self.jobs.send(Box::new(move |line| drop(reply.send(job(line))))).map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }
}
