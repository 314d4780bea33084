//! A full grid over as many of the first knobs as the budget holds.

use super::{Request, Told, quasi::sobol_point};
use crate::space::UnitDim;

/// No grid is larger than this.
const LARGEST: usize = 1 << 12;

/// Suggestion `index`: the feasible grid points, in an order of which every beginning is spread over the grid.
pub(super) fn suggest(request: &Request) -> Option<Vec<f64>> {
    let levels = levels(request.dims, request.total, &base(request));
    order(&levels, request.seed)
        .into_iter()
        .filter(|point| (request.feasible)(point))
        .nth(request.index)
}

/// Whether a grid is the best that can be done: a single knob, or every configuration there is within the budget.
pub(super) fn covers(request: &Request) -> bool {
    let values = |dim: &UnitDim| match *dim {
        UnitDim::Choice { n } => Some(n as usize),
        UnitDim::Number { steps, special } => steps.map(|steps| (steps + special) as usize),
    };
    let all = request
        .dims
        .iter()
        .try_fold(1usize, |product, dim| product.checked_mul(values(dim)?));
    request.dims.len() == 1 || all.is_some_and(|all| all <= request.total)
}

/// Where the knobs stay that the grid does not reach: as in the better of the first two trials, which in a study are the server's
/// defaults and the rule of thumb; in the middle where nothing was tried. Grid points agree with it there, so it does not change when
/// the first trials are themselves points of the grid.
fn base(request: &Request) -> Vec<f64> {
    let y = |told: &&Told| told.measured().map_or(f64::NEG_INFINITY, |(y, _)| y);
    let best = request.trials().take(2).max_by(|a, b| y(a).total_cmp(&y(b)));
    best.map_or_else(
        || request.snap(&vec![0.5; request.dims.len()]),
        |told| request.snap(&told.point),
    )
}

/// The levels of each knob, their product at most `total`: two (both ends; first and last choice) for as many of the first knobs as fit,
/// since a knob that does not vary is not learnt about at all; then all choices and more numbers, from the first knob on, while they fit.
fn levels(dims: &[UnitDim], total: usize, base: &[f64]) -> Vec<Vec<f64>> {
    let total = total.clamp(1, LARGEST);
    let mut levels: Vec<Vec<f64>> = base.iter().map(|&u| vec![u]).collect();
    for wanted in 2.. {
        let mut grown = false;
        for (knob, dim) in dims.iter().enumerate() {
            let others: usize = levels.iter().map(Vec::len).product::<usize>() / levels[knob].len();
            let more = match *dim {
                UnitDim::Choice { n } if wanted > 2 => even(dim, n as usize),
                _ => even(dim, wanted),
            };
            if more.len() > levels[knob].len() && others * more.len() <= total {
                levels[knob] = more;
                grown = true;
            }
        }
        // Choices may fit in the second round although nothing did in the first.
        if !grown && wanted > 2 {
            break;
        }
    }
    levels
}

/// At most `n` values, evenly over the interval.
fn even(dim: &UnitDim, n: usize) -> Vec<f64> {
    let mut values: Vec<f64> = (0..n)
        .map(|i| dim.snap(i as f64 / n.saturating_sub(1).max(1) as f64))
        .collect();
    values.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
    values
}

/// All points of the grid, in the order in which a scrambled Sobol sequence comes into their cells; those that it does not come into
/// soon follow in counting order.
fn order(levels: &[Vec<f64>], seed: u64) -> Vec<Vec<f64>> {
    let size: usize = levels.iter().map(Vec::len).product();
    let mut seen = vec![false; size];
    let visits = (0..16 * size).map(|i| {
        let u = sobol_point(levels.len(), seed, i);
        u.iter().zip(levels).fold(0, |cell, (u, levels)| {
            cell * levels.len() + (u * levels.len() as f64) as usize
        })
    });
    visits
        .chain(0..size)
        .filter(|&cell| !std::mem::replace(&mut seen[cell], true))
        .map(|cell| point(levels, cell))
        .collect()
}

/// The grid point with number `cell`, the last knob counting fastest.
fn point(levels: &[Vec<f64>], mut cell: usize) -> Vec<f64> {
    let mut point: Vec<f64> = levels
        .iter()
        .rev()
        .map(|levels| {
            let value = levels[cell % levels.len()];
            cell /= levels.len();
            value
        })
        .collect();
    point.reverse();
    point
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(dims: &[UnitDim], total: usize) -> Vec<usize> {
        levels(dims, total, &vec![0.5; dims.len()])
            .iter()
            .map(Vec::len)
            .collect()
    }

    #[test]
    fn as_many_knobs_as_fit_vary_and_the_first_get_the_most_levels() {
        let number = UnitDim::Number {
            steps: None,
            special: 0,
        };
        let many = vec![number.clone(); 12];
        assert_eq!(lengths(&many, 9)[..4], [2, 2, 2, 1]);
        assert_eq!(lengths(&many[..2], 20), [5, 4]);
        assert_eq!(lengths(&many[..3], 40), [4, 3, 3]);
        assert_eq!(lengths(&many, 1), vec![1; 12]);
        assert_eq!(lengths(&many[..1], 11), [11]);
        let mixed = [
            number,
            UnitDim::Choice { n: 4 },
            UnitDim::Number {
                steps: Some(2),
                special: 1,
            },
        ];
        assert_eq!(lengths(&mixed, 36), [3, 4, 3]);
        assert_eq!(lengths(&mixed, 24), [3, 4, 2]);
        assert_eq!(lengths(&mixed, 9), [2, 2, 2]);
    }

    #[test]
    fn a_grid_has_each_point_once_and_begins_spread_out() {
        let dims = vec![
            UnitDim::Number {
                steps: None,
                special: 0
            };
            2
        ];
        let grid = order(&levels(&dims, 16, &[0.5, 0.5]), 3);
        assert_eq!(grid.len(), 16);
        for (i, point) in grid.iter().enumerate() {
            assert!(!grid[..i].contains(point));
        }
        for quarter in 0..4 {
            let inside = |p: &&Vec<f64>| (p[0] > 0.5) as usize * 2 + (p[1] > 0.5) as usize == quarter;
            assert!(grid[..8].iter().filter(inside).count() >= 1);
        }
    }
}
