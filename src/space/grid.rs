use serde::{Deserialize, Serialize};

/// Which numbers a knob takes: such as a person would write into an option file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Grid {
    /// `origin` and every multiple of `step` from there.
    Step {
        /// A value on the grid.
        origin: f64,
        /// Distance of two values.
        step: f64,
    },
    /// Sizes of which the leading six bits alone are set, in multiples of the server's block (a power of two): 11264M, 352M.
    /// Neighbours are 1.6 to 3.1% apart.
    Size {
        /// The block in bytes.
        block: u64,
    },
    /// Whole numbers of two decimal figures: 1, 37, 150, 2400.
    Figures,
}

impl Grid {
    /// The value nearest to `x`.
    pub fn round(&self, x: f64) -> f64 {
        match *self {
            Grid::Step { origin, step } => origin + ((x - origin) / step).round() * step,
            Grid::Size { .. } | Grid::Figures => {
                let grain = self.grain(x);
                (x / grain).round() * grain
            }
        }
    }

    /// The smallest value that is not below `x`.
    pub fn up(&self, x: f64) -> f64 {
        let near = self.round(x);
        if near < x { near + self.grain(near) } else { near }
    }

    /// The largest value that is not above `x`.
    pub fn down(&self, x: f64) -> f64 {
        let near = self.round(x);
        if near <= x {
            return near;
        }
        // Just below a power the grain is the finer one.
        near - self.grain(x.min(near))
    }

    /// Distance from `x` to the next value.
    pub(super) fn grain(&self, x: f64) -> f64 {
        match *self {
            Grid::Step { step, .. } => step,
            Grid::Size { block } => {
                let bits = (x.max(1.0) as u64).ilog2();
                block.max(1 << bits.saturating_sub(5)) as f64
            }
            Grid::Figures => {
                let mut grain = 1.0;
                while x / grain >= 100.0 {
                    grain *= 10.0;
                }
                grain
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_such_as_people_write() {
        const MIB: f64 = 1048576.0;
        let size = Grid::Size { block: 1 << 20 };
        assert_eq!(size.round(11.3 * 1024.0 * MIB), 11520.0 * MIB);
        assert_eq!(size.round(6.2 * MIB), 6.0 * MIB);
        assert_eq!(Grid::Figures.round(1437.0), 1400.0);
        assert_eq!(Grid::Figures.round(37.4), 37.0);
        assert_eq!(Grid::Figures.round(998.0), 1000.0);
        assert_eq!(
            Grid::Step {
                origin: 5.0,
                step: 4.0
            }
            .round(38.0),
            37.0
        );
    }

    proptest::proptest! {
        #[test]
        fn up_and_down_stay_on_their_side(x in 1.0..1e13f64, block in 0u32..24) {
            for grid in [Grid::Size { block: 1 << block }, Grid::Figures, Grid::Step { origin: 3.0, step: 5.0 }] {
                let (down, up) = (grid.down(x), grid.up(x));
                proptest::prop_assert!(down <= x && x <= up, "{grid:?} {down} {x} {up}");
                for on_grid in [down, up] {
                    proptest::prop_assert_eq!(grid.round(on_grid), on_grid);
                }
                proptest::prop_assert!([down, up].contains(&grid.round(x)));
            }
        }
    }
}
