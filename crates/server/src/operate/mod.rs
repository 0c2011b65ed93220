//! Running a server: whether it is well, what it counts, and what it notes of each request.
//!
//! | module | subject |
//! |---|---|
//! | `health` | whether the process answers, and whether requests should be sent here |
//! | `metrics` | what is counted; `exposition` writes it down as Prometheus reads it |
//! | `request` | an id for each request, headers of each answer, and a line in the log |

mod exposition;
mod health;
mod metrics;
mod request;

pub(crate) use exposition::{__path_metrics, metrics};
pub(crate) use health::{__path_healthz, __path_readyz, healthz, readyz};
pub(crate) use metrics::Metrics;
pub(crate) use request::observe;
