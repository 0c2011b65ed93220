//! Running what skills bring, without fear of it.
//!
//! What must always hold: nothing runs that the user did not allow; nothing runs unprotected because protection was not
//! to be had; and whoever asked learns what really happened, limits included.

pub mod script;
#[cfg(feature = "toolsets")]
pub mod toolset;
