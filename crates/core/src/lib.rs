//! Core (in progress).
mod located;
pub mod policy;
mod surroundings;
pub use located::Located;
pub use policy::{Policy, Preset, RootSpec, Scope};
pub use surroundings::Surroundings;
