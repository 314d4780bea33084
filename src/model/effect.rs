//! What each knob does to throughput between two configurations.

use super::Gp;

/// What a knob does at `chosen`: log throughput there less log throughput with that knob as in `reference`, all else as chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// Which knob: an index into the point.
    pub knob: usize,
    /// The model's mean of the difference; above 0 where the chosen value is the better one.
    pub mean: f64,
    /// Its standard deviation.
    pub sd: f64,
}

/// The effects of all knobs in which `chosen` and `reference` differ, the smallest first: the order in which to try without them.
///
/// Both points must have a coordinate for each knob of the model.
pub fn effects(gp: &Gp, chosen: &[f64], reference: &[f64]) -> Vec<Effect> {
    let mut effects: Vec<Effect> = (0..chosen.len())
        .filter(|&knob| (chosen[knob] - reference[knob]).abs() > 1e-9)
        .map(|knob| {
            let mut without = chosen.to_vec();
            without[knob] = reference[knob];
            let (mean, sd) = gp.predict_difference(chosen, &without);
            Effect { knob, mean, sd }
        })
        .collect();
    effects.sort_by(|a, b| a.mean.total_cmp(&b.mean));
    effects
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{model::Datum, space::UnitDim};

    #[test]
    fn effects_are_told_apart_and_sorted() {
        let dims = vec![
            UnitDim::Number {
                steps: None,
                special: 0
            };
            4
        ];
        let data: Vec<Datum> = (0..30)
            .map(|i| {
                let point: Vec<f64> = [0.618, 0.755, 0.819, 0.857]
                    .iter()
                    .map(|step| (step * i as f64) % 1.0)
                    .collect();
                let log_y = 1.0 * point[0] + 0.2 * point[1] - 0.3 * point[2];
                Datum {
                    point,
                    log_y,
                    log_stderr: 0.01,
                }
            })
            .collect();
        let gp = Gp::fit(&dims, &data, 1).unwrap();
        let effects = effects(&gp, &[0.9, 0.9, 0.9, 0.5], &[0.1, 0.1, 0.1, 0.5]);
        assert_eq!(
            effects.iter().map(|effect| effect.knob).collect::<Vec<_>>(),
            [2, 1, 0]
        );
        for (effect, expected) in effects.iter().zip([-0.24, 0.16, 0.8]) {
            assert!((effect.mean - expected).abs() < 0.1, "{effect:?}");
            assert!(effect.sd > 0.0 && effect.sd < 0.2, "{effect:?}");
        }
    }
}
