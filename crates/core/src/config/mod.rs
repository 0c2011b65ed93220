//! The layered configuration (in progress).
