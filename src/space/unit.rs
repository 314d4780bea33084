//! The space as the optimizer and the model see it: the unit cube.

/// One coordinate of the cube.
#[derive(Clone, Debug, PartialEq)]
pub enum UnitDim {
    /// A number, already on its linear or logarithmic scale. `steps`: how many values there are, if they are few (whole numbers).
    /// `special`: how many special values (such as 0 = off) lie below the numbers, each taking `SPECIAL_WIDTH` of the interval.
    Number {
        /// Number of distinct values of the numeric part; none where they are practically continuous.
        steps: Option<u32>,
        /// Number of special values.
        special: u32,
    },
    /// One of `n` unordered values; value i lies at (i + 1/2) / n.
    Choice {
        /// How many.
        n: u32,
    },
}

/// Share of the unit interval that each special value takes, at its low end.
pub const SPECIAL_WIDTH: f64 = 0.1;

impl UnitDim {
    /// The centre of the cell that `u` lies in: what a configuration made from `u` encodes to.
    pub fn snap(&self, u: f64) -> f64 {
        let u = if u.is_nan() { 0.5 } else { u.clamp(0.0, 1.0) };
        match *self {
            UnitDim::Choice { n } => (cell(u, n) as f64 + 0.5) / n as f64,
            UnitDim::Number { steps, special } => {
                let low = special as f64 * SPECIAL_WIDTH;
                if u < low {
                    return (cell(u / low, special) as f64 + 0.5) * SPECIAL_WIDTH;
                }
                match steps {
                    None => u,
                    Some(1) => low + (1.0 - low) / 2.0,
                    Some(n) => {
                        let x = (u - low) / (1.0 - low);
                        low + (x * (n - 1) as f64).round() / (n - 1) as f64 * (1.0 - low)
                    }
                }
            }
        }
    }

    /// What the kernel sees of coordinate `u`: for a choice one feature for each value (1 where it is the value), for a number its
    /// position in the numeric part (the middle for a special value), then one feature for each special value.
    /// The number of features depends on the dimension alone.
    pub fn features(&self, u: f64, out: &mut Vec<f64>) {
        match *self {
            UnitDim::Choice { n } => {
                let chosen = cell(u, n);
                out.extend((0..n).map(|i| f64::from(u8::from(i == chosen))));
            }
            UnitDim::Number { special, .. } => {
                let low = special as f64 * SPECIAL_WIDTH;
                let chosen = (u < low).then(|| cell(u / low, special));
                out.push(if chosen.is_some() {
                    0.5
                } else {
                    (u - low) / (1.0 - low)
                });
                out.extend((0..special).map(|i| f64::from(u8::from(chosen == Some(i)))));
            }
        }
    }

    /// How many features [`UnitDim::features`] gives.
    pub fn feature_count(&self) -> usize {
        match *self {
            UnitDim::Choice { n } => n as usize,
            UnitDim::Number { special, .. } => 1 + special as usize,
        }
    }
}

/// Index of the cell of `n` equal ones that `u` of [0, 1] lies in.
pub(super) fn cell(u: f64, n: u32) -> u32 {
    ((u * n as f64) as u32).min(n.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapping_is_idempotent_and_stays_inside() {
        let dims = [
            UnitDim::Choice { n: 3 },
            UnitDim::Number {
                steps: None,
                special: 0,
            },
            UnitDim::Number {
                steps: Some(5),
                special: 2,
            },
            UnitDim::Number {
                steps: Some(1),
                special: 0,
            },
        ];
        for dim in &dims {
            for i in -1..=101 {
                let once = dim.snap(i as f64 / 100.0);
                assert!((0.0..=1.0).contains(&once));
                assert!((dim.snap(once) - once).abs() < 1e-12, "{dim:?} {once}");
            }
            assert!(dim.snap(f64::NAN).is_finite());
        }
    }

    #[test]
    fn a_special_value_is_a_level_of_its_own() {
        let dim = UnitDim::Number {
            steps: None,
            special: 1,
        };
        let mut features = Vec::new();
        dim.features(0.05, &mut features);
        dim.features(0.1, &mut features);
        dim.features(1.0, &mut features);
        assert_eq!(features, [0.5, 1.0, 0.0, 0.0, 1.0, 0.0]);
        assert_eq!(dim.feature_count(), 2);
    }
}
