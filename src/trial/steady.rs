//! What the windows of a run say: where the warm-up ends, the mean after it, and how well it is known.

use crate::observation::Window;

/// The steady part of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// Windows cut as warm-up.
    pub cut: usize,
    /// Seconds after the cut.
    pub seconds: f64,
    /// Operations a second after the cut.
    pub mean: f64,
    /// Standard error of `mean`, the autocorrelation of the windows included.
    pub stderr: f64,
    /// Share of windows after the cut with less than half the mean.
    pub stalls: f64,
}

/// Analyses one-second windows, of which at least `keep` (and four) stay after the cut; none where there are fewer or nothing was done.
pub fn steady(windows: &[Window], keep: usize) -> Option<Steady> {
    let rates: Vec<f64> = windows.iter().map(|w| w.operations / w.seconds).collect();
    let keep = keep.max(4);
    if rates.len() < keep {
        return None;
    }
    let cut = warm_up(&rates, keep);
    let kept = &rates[cut..];
    let mean = kept.iter().sum::<f64>() / kept.len() as f64;
    if mean <= 0.0 {
        return None;
    }
    let stalls = kept.iter().filter(|rate| **rate < mean / 2.0).count() as f64 / kept.len() as f64;
    Some(Steady {
        cut,
        seconds: windows[cut..].iter().map(|w| w.seconds).sum(),
        mean,
        stderr: standard_error(kept, mean),
        stalls,
    })
}

/// How many windows to cut at the start: the d that makes the standard error of the mean of the rest least (marginal standard error rule;
/// White, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69, 1997), at most half of them, and
/// `keep` stay.
fn warm_up(rates: &[f64], keep: usize) -> usize {
    let n = rates.len();
    (0..=(n / 2).min(n - keep))
        .map(|d| {
            let rest = &rates[d..];
            let m = rest.len() as f64;
            let mean = rest.iter().sum::<f64>() / m;
            (d, rest.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (m * m))
        })
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map_or(0, |(d, _)| d)
}

/// Standard error of the mean of a correlated series: the initial positive sequence of autocovariances
/// (Geyer, "Practical Markov chain Monte Carlo", Statistical Science 7, 1992), never less than that of independent windows.
fn standard_error(rates: &[f64], mean: f64) -> f64 {
    let n = rates.len();
    let covariance = |lag: usize| -> f64 {
        (0..n - lag)
            .map(|i| (rates[i] - mean) * (rates[i + lag] - mean))
            .sum::<f64>()
            / n as f64
    };
    let independent = covariance(0) * n as f64 / (n - 1) as f64;
    let mut sum = covariance(0);
    // Lags beyond a third of the run rest on too few pairs.
    for lag in (1..=n / 3).step_by(2) {
        let pair = covariance(lag) + if lag < n / 3 { covariance(lag + 1) } else { 0.0 };
        if pair <= 0.0 {
            break;
        }
        sum += 2.0 * pair;
    }
    (sum.max(independent) / n as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    fn windows(rates: &[f64]) -> Vec<Window> {
        rates
            .iter()
            .enumerate()
            .map(|(i, r)| Window {
                end: i as f64 + 1.0,
                seconds: 1.0,
                operations: *r,
                queries: 0.0,
            })
            .collect()
    }

    #[test]
    fn a_cold_start_is_cut() {
        let s = steady(
            &windows(&[10.0, 40.0, 90.0, 101.0, 99.0, 100.0, 102.0, 98.0, 100.0, 101.0]),
            4,
        )
        .unwrap();
        assert_eq!(s.cut, 3);
        assert!((s.mean - 100.0).abs() < 1.0);
        assert_eq!(s.stalls, 0.0);
    }

    #[test]
    fn a_steady_run_is_kept_whole_but_for_chance() {
        let s = steady(&windows(&[100.0; 12]), 4).unwrap();
        assert_eq!((s.cut, s.mean, s.stderr), (0, 100.0, 0.0));
    }

    #[test]
    fn too_short_or_idle_is_nothing() {
        assert_eq!(steady(&windows(&[1.0, 2.0, 3.0]), 4), None);
        assert_eq!(steady(&windows(&[0.0; 10]), 4), None);
        assert_eq!(steady(&[], 4), None);
        assert_eq!(steady(&windows(&[5.0; 7]), 8), None);
        assert_eq!(
            steady(&windows(&[1.0, 2.0, 3.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0]), 8)
                .unwrap()
                .cut,
            2
        );
    }

    #[test]
    fn stalls_are_windows_under_half_the_mean() {
        let s = steady(
            &windows(&[100.0, 100.0, 0.0, 100.0, 100.0, 100.0, 0.0, 100.0, 100.0, 100.0]),
            4,
        )
        .unwrap();
        assert!(s.stalls > 0.1, "{s:?}");
    }

    #[test]
    fn the_standard_error_of_correlated_windows_covers_their_true_error() {
        // First-order autoregression with rho = 0.5: the variance of the mean is (1 + rho) / (1 - rho) = 3 times that of independent windows.
        let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(1);
        let (n, runs) = (60, 400);
        let (mut claimed, mut squared) = (0.0, 0.0);
        for _ in 0..runs {
            let mut x = 0.0;
            let rates: Vec<f64> = (0..n + 20)
                .map(|_| {
                    let noise: f64 = (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
                    x = 0.5 * x + noise;
                    x
                })
                .skip(20)
                .collect();
            let mean = rates.iter().sum::<f64>() / n as f64;
            squared += mean * mean;
            claimed += standard_error(&rates, mean).powi(2);
        }
        let ratio = claimed / squared;
        assert!((0.75..1.5).contains(&ratio), "claimed over true variance {ratio}");
    }
}
