//! What this machine has to spare.

use procfs::{Current, Meminfo};

/// Bytes of memory that are free or can be freed at once.
pub fn free_memory() -> f64 {
    Meminfo::current().map_or(0.0, |m| m.mem_available.unwrap_or(m.mem_free) as f64)
}
