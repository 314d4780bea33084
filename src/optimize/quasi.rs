//! Sequences that do not look at results: scrambled Sobol and uniform random.

use super::Request;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// How many points in a row may be infeasible, or tried before, until the search for a better one is given up.
const PATIENCE: usize = 4096;

/// What `sobol_burley` takes; longer sequences and more dimensions go on under another seed, which gives an independent sequence.
const SEQUENCE: usize = 1 << 16;

/// Point `index` of the feasible points of the sequence, or the first after it that is new.
pub(super) fn sobol(request: &Request) -> Option<Vec<f64>> {
    let mut points = (0..).map(|i| request.snap(&sobol_point(request.dims.len(), request.seed, i)));
    for _ in 0..request.index {
        points
            .by_ref()
            .take(PATIENCE)
            .find(|point| (request.feasible)(point))?;
    }
    first_new(request, points)
}

/// Uniform; suggestion `index` does not depend on the ones before.
pub(super) fn random(request: &Request) -> Option<Vec<f64>> {
    let mut rng = rng(request);
    first_new(request, std::iter::repeat_with(|| uniform(request, &mut rng)))
}

/// The generator of suggestion `index`.
pub(super) fn rng(request: &Request) -> Pcg64 {
    stream(request.seed, request.index as u64)
}

/// Generator `number` of a seed. Steps of the golden ratio, hashed by `seed_from_u64`: the streams that PCG itself offers are related.
fn stream(seed: u64, number: u64) -> Pcg64 {
    Pcg64::seed_from_u64(seed.wrapping_add(number.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
}

fn uniform(request: &Request, rng: &mut Pcg64) -> Vec<f64> {
    request.dims.iter().map(|dim| dim.snap(rng.random())).collect()
}

/// The first feasible point that was not tried; where all are, the first feasible one.
fn first_new(request: &Request, points: impl Iterator<Item = Vec<f64>>) -> Option<Vec<f64>> {
    let mut feasible = points
        .take(PATIENCE)
        .filter(|point| (request.feasible)(point))
        .peekable();
    let first = feasible.peek()?.clone();
    Some(feasible.find(|point| !request.is_tried(point)).unwrap_or(first))
}

/// Point `i` of an Owen-scrambled Sobol sequence in [0, 1)^dims (Burley, "Practical Hash-based Owen Scrambling", 2020).
pub(super) fn sobol_point(dims: usize, seed: u64, i: usize) -> Vec<f64> {
    let width = sobol_burley::NUM_DIMENSIONS as usize;
    (0..dims)
        .map(|dim| {
            let block = (dim / width) as u64 * SEQUENCE as u64 + (i / SEQUENCE) as u64;
            let scramble = stream(seed, block).random();
            let [index, column] = [(i % SEQUENCE) as u32, (dim % width) as u32];
            f64::from(sobol_burley::sample(index, column, scramble))
        })
        .collect()
}
