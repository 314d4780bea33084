use super::{Grid, SPECIAL_WIDTH, UnitDim, unit::cell};
use crate::{catalog::Kind, units::Value};
use serde::{Deserialize, Serialize};

/// What a knob may be set to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Domain {
    /// Numbers of a grid from `low` to `high` (both on it, `low` < `high`), and some special ones such as 0 = off.
    Number {
        /// The smallest.
        low: f64,
        /// The largest.
        high: f64,
        /// Whether equal ratios are equally far apart (then `low` > 0), not equal differences.
        log: bool,
        /// Which numbers.
        grid: Grid,
        /// Numbers outside `low..=high` with a meaning of their own.
        special: Vec<Value>,
    },
    /// One of these unordered values, of which there are at least two.
    Choice(Vec<Value>),
}

/// A linear domain of at most this many values is a ladder of steps to the model; beyond, it is practically continuous.
const FEW: f64 = 100.0;

impl Domain {
    /// The coordinate of the unit cube that it takes.
    pub fn dim(&self) -> UnitDim {
        match self {
            Domain::Choice(values) => UnitDim::Choice {
                n: values.len() as u32,
            },
            Domain::Number {
                low,
                high,
                log,
                grid,
                special,
            } => {
                let steps = match grid {
                    Grid::Step { step, .. } if !log => Some(((high - low) / step).round() + 1.0),
                    _ => None,
                };
                UnitDim::Number {
                    steps: steps.filter(|n| *n <= FEW).map(|n| n as u32),
                    special: special.len() as u32,
                }
            }
        }
    }

    /// The value at `u` of [0, 1], of kind `kind`; what lies outside is taken to the nearer end, NaN to the middle.
    pub(super) fn decode(&self, u: f64, kind: &Kind) -> Value {
        let u = if u.is_nan() { 0.5 } else { u.clamp(0.0, 1.0) };
        match self {
            Domain::Choice(values) => values[cell(u, values.len() as u32) as usize].clone(),
            Domain::Number {
                low,
                high,
                log,
                grid,
                special,
            } => {
                let below = special.len() as f64 * SPECIAL_WIDTH;
                if u < below {
                    return special[cell(u / below, special.len() as u32) as usize].clone();
                }
                let x = (u - below) / (1.0 - below);
                let value = if *log {
                    low * (high / low).powf(x)
                } else {
                    low + x * (high - low)
                };
                let value = grid.round(value).clamp(*low, *high);
                kind.number(value).unwrap_or(Value::Real(value))
            }
        }
    }

    /// Where `value` lies in [0, 1], exactly even if it is off the grid; none if it is outside the domain.
    pub(super) fn encode(&self, value: &Value) -> Option<f64> {
        match self {
            Domain::Choice(values) => {
                let i = values.iter().position(|v| v == value)?;
                Some((i as f64 + 0.5) / values.len() as f64)
            }
            Domain::Number {
                low, high, special, ..
            } => {
                if let Some(i) = special.iter().position(|v| v == value) {
                    return Some((i as f64 + 0.5) * SPECIAL_WIDTH);
                }
                let x = value.number().filter(|x| (*low..=*high).contains(x))?;
                Some(self.place(x))
            }
        }
    }

    /// As [`Domain::encode`]; a number outside is taken to the nearer end, a value of no use to the first choice or the middle.
    pub(super) fn nearest(&self, value: &Value) -> f64 {
        self.encode(value)
            .unwrap_or_else(|| match (self, value.number()) {
                (Domain::Choice(values), _) => 0.5 / values.len() as f64,
                (Domain::Number { low, high, .. }, Some(x)) if !x.is_nan() => {
                    self.place(x.clamp(*low, *high))
                }
                (Domain::Number { .. }, _) => 0.5,
            })
    }

    /// Place of a number of the numeric part.
    fn place(&self, x: f64) -> f64 {
        let Domain::Number {
            low,
            high,
            log,
            special,
            ..
        } = self
        else {
            return 0.5;
        };
        let below = special.len() as f64 * SPECIAL_WIDTH;
        let share = if *log {
            (x / low).ln() / (high / low).ln()
        } else {
            (x - low) / (high - low)
        };
        (below + share * (1.0 - below)).clamp(below, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percent() -> Domain {
        Domain::Number {
            low: 10.0,
            high: 90.0,
            log: false,
            grid: Grid::Step {
                origin: 10.0,
                step: 5.0,
            },
            special: vec![Value::Int(0)],
        }
    }

    #[test]
    fn numbers_and_special_values() {
        let domain = percent();
        assert_eq!(
            domain.dim(),
            UnitDim::Number {
                steps: Some(17),
                special: 1
            }
        );
        assert_eq!(domain.decode(0.05, &Kind::Int), Value::Int(0));
        assert_eq!(domain.decode(SPECIAL_WIDTH, &Kind::Int), Value::Int(10));
        assert_eq!(domain.decode(1.0, &Kind::Int), Value::Int(90));
        assert_eq!(
            domain.decode(f64::NAN, &Kind::Int),
            Value::Int(45),
            "the middle of all, special part included"
        );
        assert_eq!(domain.encode(&Value::Int(0)), Some(0.05));
        assert_eq!(domain.encode(&Value::Int(50)), Some(0.55));
        assert_eq!(domain.encode(&Value::Int(5)), None);
        assert_eq!(domain.nearest(&Value::Int(5)), SPECIAL_WIDTH);
        assert_eq!(domain.nearest(&Value::Int(500)), 1.0);
    }

    #[test]
    fn a_value_off_the_grid_lies_between_its_neighbours() {
        let at = |n| percent().encode(&Value::Int(n)).unwrap();
        assert!(at(35) < at(37) && at(37) < at(40));
    }

    #[test]
    fn a_log_scale_puts_the_geometric_mean_in_the_middle() {
        let domain = Domain::Number {
            low: 1.0,
            high: 64.0,
            log: true,
            grid: Grid::Figures,
            special: vec![],
        };
        assert_eq!(domain.decode(0.5, &Kind::Int), Value::Int(8));
        assert_eq!(domain.encode(&Value::Int(8)), Some(0.5));
    }

    #[test]
    fn the_model_and_the_space_agree_on_the_cells() {
        let choice = Domain::Choice(vec![Value::Switch(false), Value::Switch(true)]);
        for domain in [percent(), choice] {
            for i in 0..=1000 {
                let u = i as f64 / 1000.0;
                let kept = domain.encode(&domain.decode(u, &Kind::Int)).unwrap();
                assert!((domain.dim().snap(u) - kept).abs() < 1e-9, "{domain:?} {u}");
            }
        }
    }
}
