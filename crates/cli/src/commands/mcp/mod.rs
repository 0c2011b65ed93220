//! `prowess mcp`: skills for every agent that speaks the Model Context Protocol.

mod serve;

pub(super) use serve::serve;
