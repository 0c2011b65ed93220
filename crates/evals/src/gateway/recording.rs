//! Recorded traffic between agents and providers.
//!
//! One file for each run, with one exchange per line. Keys are never part of it: the gateway adds them to requests, and
//! removes them from responses.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The maximum size of a recording, in bytes.
const RECORDING_MAX: u64 = 256 * 1024 * 1024;

/// A request and its response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Exchange {
    /// The path of the request, such as `messages`.
    pub(super) path: String,
    /// The body of the request.
    pub(super) request: Value,
    /// The status of the response.
    pub(super) status: u16,
    /// The content type of the response.
    pub(super) content_type: String,
    /// The body of the response.
    pub(super) response: String,
}

/// Whether traffic is recorded, replayed, or neither.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Traffic {
    /// Requests are sent to the provider.
    #[default]
    Live,
    /// Requests are sent to the provider, and the traffic is stored in this directory.
    Record(PathBuf),
    /// Requests are answered from this directory. Nothing is sent.
    Replay(PathBuf),
}

/// Why a recording cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// There is no recording of a run.
    #[error("there is no recording of {run} in {}", .dir.display())]
    Missing {
        /// The run.
        run: String,
        /// The directory.
        dir: PathBuf,
    },
    /// The file is not a recording.
    #[error("{} is not a recording: line {line}: {reason}", .path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// The reason.
        reason: String,
    },
    /// The agent sends a request that was not recorded.
    #[error("request {number} of {run} differs from the recording; record again with --record")]
    Differs {
        /// The run.
        run: String,
        /// The number of the request, from 1.
        number: usize,
    },
    /// The agent sends more requests than were recorded.
    #[error("{run} sends more than the {recorded} recorded requests; record again with --record")]
    End {
        /// The run.
        run: String,
        /// The number of recorded requests.
        recorded: usize,
    },
    /// The traffic cannot be written.
    #[error("cannot record to {}: {reason}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

/// How a replay compares requests with the recorded ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestMatching {
    /// The bodies must be equal.
    Exact,
    /// Only the order counts: the requests of the agent contain times or random values.
    Order,
}

/// The recording of one run.
#[derive(Debug, Default)]
pub(super) enum RunTraffic {
    #[default]
    Live,
    Record(RecordingFile),
    Replay(Replay),
}

/// A recording that is written beside its path until the run is over, so that an existing recording is replaced only by a
/// complete one.
#[derive(Debug)]
pub(super) struct RecordingFile {
    path: PathBuf,
    file: Mutex<File>,
}

impl Drop for RecordingFile {
    fn drop(&mut self) {
        // A complete recording was renamed.
        let _ = std::fs::remove_file(prowess_fs::staging_path(&self.path));
    }
}

#[derive(Debug)]
pub(super) struct Replay {
    run: String,
    matching: RequestMatching,
    state: Mutex<ReplayState>,
}

#[derive(Debug)]
struct ReplayState {
    exchanges: VecDeque<Exchange>,
    total: usize,
}

impl RunTraffic {
    /// Opens the recording of a run, whose name is a valid file name.
    pub(super) fn open(traffic: &Traffic, run: &str, matching: RequestMatching) -> Result<Self, ReplayError> {
        match traffic {
            Traffic::Live => Ok(Self::Live),
            Traffic::Record(dir) => {
                let path = dir.join(format!("{run}.jsonl"));
                let failed = |error: std::io::Error| ReplayError::Write {
                    path: path.clone(),
                    reason: error.to_string(),
                };
                prowess_fs::create_dir_all(dir).map_err(failed)?;
                let file = File::create(prowess_fs::staging_path(&path)).map_err(failed)?;
                Ok(Self::Record(RecordingFile { path, file: Mutex::new(file) }))
            }
            Traffic::Replay(dir) => {
                let exchanges = read_exchanges(dir, run)?;
                let total = exchanges.len();
                let state = Mutex::new(ReplayState { exchanges, total });
                Ok(Self::Replay(Replay { run: run.to_owned(), matching, state }))
            }
        }
    }
}

/// The directory of a run in recordings.
const RECORDED_DIR: &str = "/prowess-eval";

/// Returns a value in which the directory of a run is replaced. Paths need no escapes in JSON.
fn with_recorded_dir(value: &Value, dir: &str) -> Value {
    serde_json::from_str(&value.to_string().replace(dir, RECORDED_DIR)).unwrap_or_else(|_| value.clone())
}

impl RecordingFile {
    /// Appends an exchange of a run with this directory.
    pub(super) fn append(&self, exchange: &Exchange, dir: &str) -> Result<(), ReplayError> {
        let exchange = Exchange {
            request: with_recorded_dir(&exchange.request, dir),
            response: exchange.response.replace(dir, RECORDED_DIR),
            ..exchange.clone()
        };
        let failed = |reason: String| ReplayError::Write { path: self.path.clone(), reason };
        let mut line = serde_json::to_vec(&exchange).map_err(|error| failed(error.to_string()))?;
        line.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&line).map_err(|error| failed(error.to_string()))
    }

    /// Gives a complete recording its name.
    pub(super) fn finish(&self) -> Result<(), ReplayError> {
        std::fs::rename(prowess_fs::staging_path(&self.path), &self.path)
            .map_err(|error| ReplayError::Write { path: self.path.clone(), reason: error.to_string() })
    }
}

impl Replay {
    /// Returns the recorded response to a request of a run with this directory.
    pub(super) fn answer(&self, path: &str, request: &Value, dir: &str) -> Result<Exchange, ReplayError> {
        let request = &with_recorded_dir(request, dir);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let number = state.total - state.exchanges.len() + 1;
        let run = || self.run.clone();
        let Some(next) = state.exchanges.front() else {
            return Err(ReplayError::End { run: run(), recorded: state.total });
        };
        let matches = match self.matching {
            RequestMatching::Exact => next.path == path && next.request == *request,
            RequestMatching::Order => next.path == path,
        };
        // Requests in parallel may arrive in another order.
        let position = match self.matching {
            _ if matches => Some(0),
            RequestMatching::Exact => state
                .exchanges
                .iter()
                .position(|exchange| exchange.path == path && exchange.request == *request),
            RequestMatching::Order => state.exchanges.iter().position(|exchange| exchange.path == path),
        };
        position
            .and_then(|position| state.exchanges.remove(position))
            .map(|exchange| Exchange { response: exchange.response.replace(RECORDED_DIR, dir), ..exchange })
            .ok_or_else(|| ReplayError::Differs { run: run(), number })
    }
}

fn read_exchanges(dir: &Path, run: &str) -> Result<VecDeque<Exchange>, ReplayError> {
    let path = dir.join(format!("{run}.jsonl"));
    let missing = || ReplayError::Missing { run: run.to_owned(), dir: dir.to_owned() };
    let bytes = prowess::read_bounded(&path, RECORDING_MAX).ok_or_else(missing)?;
    let lines = bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
    lines
        .map(|(index, line)| {
            serde_json::from_slice(line).map_err(|error| ReplayError::Invalid {
                path: path.clone(),
                line: index + 1,
                reason: error.to_string(),
            })
        })
        .collect()
}
