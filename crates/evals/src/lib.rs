//! Runs the evaluations that skills carry: each case with and without the skill, graded, within hard limits.
//!
//! | module | subject |
//! |---|---|
//! | [`agent`] | the agents that do the tasks: the chat loop, programs, agents with the Agent Client Protocol |

pub mod agent;
