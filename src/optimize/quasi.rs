//! Sequences of points that do not look at results: scrambled Sobol and uniform random.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// What `sobol_burley` takes; longer sequences and more dimensions go on under another seed, which gives an independent sequence.
const SEQUENCE: usize = 1 << 16;

/// Point `i` of an Owen-scrambled Sobol sequence in [0, 1)^dims (Burley, "Practical Hash-based Owen Scrambling", 2020).
pub(crate) fn sobol_point(dims: usize, seed: u64, i: usize) -> Vec<f64> {
    let width = sobol_burley::NUM_DIMENSIONS as usize;
    let seeds: Vec<u32> = (0..dims.div_ceil(width))
        .map(|block| {
            Pcg64::seed_from_u64(seed).random::<u32>() ^ (block as u32) << 24 ^ (i / SEQUENCE) as u32
        })
        .collect();
    (0..dims)
        .map(|dim| {
            let [index, column] = [(i % SEQUENCE) as u32, (dim % width) as u32];
            f64::from(sobol_burley::sample(index, column, seeds[dim / width]))
        })
        .collect()
}
