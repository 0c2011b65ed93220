//! Operations: health checks, metrics and request logs.
//!
//! | module | subject |
//! |---|---|
//! | `health` | liveness and readiness checks |
//! | `exposition` | the metrics in the Prometheus text format |
//! | `request` | request ids, default response headers, and the request log |

mod exposition;
mod health;
mod request;

pub(crate) use exposition::{__path_metrics, metrics};
pub(crate) use health::{__path_healthz, __path_readyz, healthz, readyz};
pub(crate) use request::observe;
