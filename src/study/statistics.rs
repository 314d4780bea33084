//! Intervals from repeats.

use super::{Estimate, Ratio};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Mean of repeated runs with the 95% interval of the true mean, Student's t on the logarithms (throughput's error is relative);
/// none for no runs. A single run has no between-run variance: its interval is that of its own standard error.
pub fn estimate(runs: &[(f64, f64)]) -> Option<Estimate> {
    match runs {
        [] => None,
        [(mean, stderr)] => {
            let half = 1.96 * stderr;
            Some(Estimate {
                mean: *mean,
                ci95: [(mean - half).max(0.0), mean + half],
            })
        }
        _ => {
            let logs: Vec<f64> = runs.iter().map(|(mean, _)| mean.ln()).collect();
            let (centre, half) = t_interval(&logs)?;
            Some(Estimate {
                mean: centre.exp(),
                ci95: [(centre - half).exp(), (centre + half).exp()],
            })
        }
    }
}

/// Ratio of paired runs (numerator, denominator) with its 95% interval, Student's t on the log ratios; none for fewer than two pairs.
pub fn ratio(pairs: &[(f64, f64)]) -> Option<Ratio> {
    let logs: Vec<f64> = pairs.iter().map(|(a, b)| (a / b).ln()).collect();
    let (centre, half) = t_interval(&logs)?;
    Some(Ratio {
        ratio: centre.exp(),
        ci95: [(centre - half).exp(), (centre + half).exp()],
        pairs: pairs.len() as u32,
    })
}

/// Mean and half-width of the 95% interval of the mean.
fn t_interval(x: &[f64]) -> Option<(f64, f64)> {
    let n = x.len() as f64;
    let t = StudentsT::new(0.0, 1.0, n - 1.0).ok()?.inverse_cdf(0.975);
    let mean = x.iter().sum::<f64>() / n;
    let variance = x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let half = t * (variance / n).sqrt();
    half.is_finite().then_some((mean, half))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};

    #[test]
    fn a_known_interval() {
        // ln ratios 0.1, 0.2, 0.3: mean 0.2, sd 0.1, t(2) = 4.3027, half = 4.3027 * 0.1 / sqrt(3) = 0.24841
        let pairs: Vec<(f64, f64)> = [0.1f64, 0.2, 0.3].iter().map(|x| (x.exp(), 1.0)).collect();
        let r = ratio(&pairs).unwrap();
        assert!((r.ratio - 0.2f64.exp()).abs() < 1e-12);
        assert!((r.ci95[0].ln() - (0.2 - 0.24841)).abs() < 1e-4 && r.pairs == 3);
        assert_eq!(ratio(&pairs[..1]), None);
        assert_eq!(ratio(&[]), None);
    }

    #[test]
    fn intervals_cover_the_truth_as_often_as_they_say() {
        let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(7);
        let mut noise = || 0.05 * ((0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0);
        let covered = (0..2000)
            .filter(|_| {
                let pairs: Vec<(f64, f64)> = (0..5).map(|_| (1.3 * noise().exp(), noise().exp())).collect();
                let r = ratio(&pairs).unwrap();
                r.ci95[0] <= 1.3 && 1.3 <= r.ci95[1]
            })
            .count();
        assert!((1860..=1940).contains(&covered), "{covered} of 2000");
    }

    #[test]
    fn one_run_has_its_own_error_only() {
        let e = estimate(&[(100.0, 5.0)]).unwrap();
        assert!((e.ci95[0] - 90.2).abs() < 1e-9);
        assert_eq!(estimate(&[]), None);
    }
}
