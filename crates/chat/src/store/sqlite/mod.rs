//! Chats in a SQLite file. One thread writes and two read, none of them a thread of the async runtime.

mod connection;
mod errors;
mod owner;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use tokio::sync::oneshot;

use connection::SqliteConnection;
use owner::OwnerLock;

use super::notifications::{StoreNotice, Subscribers};
use super::sql::{BackgroundTasks, Durability, SqlDriver, SqlStore, TransactionBody, schema, transaction};
use super::{StoreAddress, StoreError, StoreOptions};

/// The number of reader threads.
const READERS: usize = 2;

/// The minimum free disk space for the store to be ready.
const FREE_SPACE_MIN: u64 = 1024 * 1024;

/// Opens or creates a file.
pub(crate) async fn open(path: &Path, options: StoreOptions) -> Result<SqlStore<Sqlite>, StoreError> {
    let path = path.to_owned();
    let opened = tokio::task::spawn_blocking(move || Sqlite::open(path, options)).await;
    let driver = Arc::new(opened.map_err(|error| StoreError::Internal(error.to_string()))??);
    // First, end turns that were interrupted.
    super::sql::sweep(&*driver).await?;
    let mut tasks = BackgroundTasks::default();
    tasks.spawn_maintenance(driver.clone(), options.lease / 3);
    Ok(SqlStore::new(driver, tasks))
}

pub(crate) struct Sqlite {
    path: PathBuf,
    owner: OwnerLock,
    writer: StoreThread,
    readers: Vec<StoreThread>,
    next_reader: AtomicUsize,
    full: AtomicBool,
    hub: Arc<Subscribers>,
}

impl Sqlite {
    fn open(path: PathBuf, options: StoreOptions) -> Result<Self, StoreError> {
        create_file(&path).map_err(|error| errors::from_io_error(&path, &error))?;
        let owner = OwnerLock::acquire(&path).map_err(|error| errors::from_io_error(&path, &error))?;
        let mut connection = SqliteConnection::open(&path, options.busy_timeout)?;
        connection.check_is_store()?;
        connection.prepare_to_write()?;
        connection.transact(
            "BEGIN IMMEDIATE",
            transaction(|tx| {
                Box::pin(async move {
                    tx.execute(schema::VERSION_TABLE, vec![]).await?;
                    schema::migrate(tx).await
                })
            }),
        )?;
        let readers = (0..READERS)
            .map(|_| {
                let mut connection = SqliteConnection::open(&path, options.busy_timeout)?;
                connection.prepare_to_read()?;
                StoreThread::start(connection)
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            owner,
            writer: StoreThread::start(connection)?,
            readers,
            next_reader: AtomicUsize::new(0),
            full: AtomicBool::new(false),
            hub: Arc::default(),
            path,
        })
    }
}

/// Creates the file and its directory, both private to the user.
fn create_file(path: &Path) -> io::Result<()> {
    if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        prowess_fs::create_private_dir_all(dir)?;
    }
    match prowess_fs::create_private(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

impl SqlDriver for Sqlite {
    async fn write<T: Send + 'static>(
        &self,
        durability: Durability,
        body: TransactionBody<T>,
    ) -> Result<T, StoreError> {
        let result = self
            .writer
            .run(move |connection| {
                connection.set_durability(durability)?;
                // Taking the write lock first avoids failing in the middle of the transaction.
                connection.transact("BEGIN IMMEDIATE", body)
            })
            .await;
        self.full.store(matches!(result, Err(StoreError::Full)), Ordering::Relaxed);
        result
    }

    async fn read<T: Send + 'static>(&self, body: TransactionBody<T>) -> Result<T, StoreError> {
        let next = self.next_reader.fetch_add(1, Ordering::Relaxed) % READERS;
        self.readers[next].run(move |connection| connection.transact("BEGIN", body)).await
    }

    fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    fn has_room(&self) -> bool {
        // Uses the file itself, because its parent may be an empty path.
        prowess_fs::free_space(&self.path).is_ok_and(|free| free >= FREE_SPACE_MIN)
    }

    fn owner(&self) -> &str {
        self.owner.id()
    }

    /// Nothing to do: the lock of the owner shows that the process is alive.
    async fn heartbeat(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Truncates the log: deleted data was overwritten in the file, but the log may still contain older pages.
    async fn purge_deleted(&self) {
        let _ = self.writer.run(|connection| connection.truncate_log()).await;
    }

    fn hub(&self) -> &Arc<Subscribers> {
        &self.hub
    }

    /// Other processes are not notified; they poll.
    fn notify(&self, _: StoreNotice) {}

    fn location(&self) -> String {
        StoreAddress::File(self.path.clone()).to_string()
    }
}

type Job = Box<dyn FnOnce(&mut SqliteConnection) + Send>;

/// A thread with a connection that runs one job after the other. It ends when all senders are dropped.
struct StoreThread {
    jobs: mpsc::Sender<Job>,
}

impl StoreThread {
    fn start(mut connection: SqliteConnection) -> Result<Self, StoreError> {
        let (jobs, queue) = mpsc::channel::<Job>();
        std::thread::Builder::new()
            .name("prowess-store".to_owned())
            .spawn(move || queue.iter().for_each(|job| job(&mut connection)))
            .map_err(|error| StoreError::Internal(format!("cannot start a thread: {error}")))?;
        Ok(Self { jobs })
    }

    async fn run<T, F>(&self, job: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut SqliteConnection) -> Result<T, StoreError> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        let stopped = || StoreError::Internal("the store thread has stopped".to_owned());
        // The job runs even if the caller no longer waits for the result.
        self.jobs
            .send(Box::new(move |connection| drop(sender.send(job(connection)))))
            .map_err(|_| stopped())?;
        receiver.await.map_err(|_| stopped())?
    }
}
