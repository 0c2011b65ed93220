//! Agent skills over the Model Context Protocol.

pub mod extension;
