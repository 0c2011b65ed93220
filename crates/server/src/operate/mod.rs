//! Running a server: whether it is well, what it counts, and what it notes of each request.
//!
//! | module | subject |
//! |---|---|
//! | `health` | whether the process answers, and whether requests should be sent here |
//! | `exposition` | what is counted, written down as Prometheus reads it |
//! | `request` | an id for each request, headers of each answer, and a line in the log |

mod exposition;
mod health;
mod request;

pub(crate) use exposition::{__path_metrics, metrics};
pub(crate) use health::{__path_healthz, __path_readyz, healthz, readyz};
pub(crate) use request::observe;
