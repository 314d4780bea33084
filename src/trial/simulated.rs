use super::{Found, Runner, TrialError};
use crate::{
    observation::{Measurement, Outcome, Window},
    units::Config,
};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Trials answered by a function of the settings, with seeded noise: no server, no time.
pub struct Simulated<F> {
    surface: F,
    noise: f64,
    random: Pcg64Mcg,
    /// Seconds that each trial is said to have taken.
    pub wall_s: f64,
    /// How many trials were run.
    pub runs: u32,
}

impl<F: FnMut(&Config) -> Result<f64, String>> Simulated<F> {
    /// `surface` gives the true throughput or why the server dies; `noise` is the relative standard deviation between runs.
    pub fn new(surface: F, noise: f64, seed: u64) -> Self {
        Self {
            surface,
            noise,
            random: Pcg64Mcg::seed_from_u64(seed),
            wall_s: 15.0,
            runs: 0,
        }
    }
}

impl<F: FnMut(&Config) -> Result<f64, String>> Runner for Simulated<F> {
    async fn run(
        &mut self,
        scaled: &Config,
        tell: &mut (dyn FnMut(&Window) + Send),
    ) -> Result<Found, TrialError> {
        self.runs += 1;
        let outcome = match (self.surface)(scaled) {
            Err(reason) => Outcome::Failed { reason },
            Ok(truth) => {
                // A sum of twelve uniforms: near enough to a normal deviate.
                let z: f64 = (0..12).map(|_| self.random.random::<f64>()).sum::<f64>() - 6.0;
                let mean = truth * (self.noise * z).exp();
                let windows: Vec<Window> = (1..=10)
                    .map(|i| Window {
                        end: f64::from(i),
                        seconds: 1.0,
                        operations: mean,
                        queries: 0.0,
                    })
                    .collect();
                windows.iter().for_each(tell);
                Outcome::Measured(Measurement {
                    mean,
                    stderr: mean * self.noise / 3.0,
                    measured_s: 10.0,
                    warmup_s: 0.0,
                    queries_per_s: 0.0,
                    stalls: 0.0,
                    latency_ms: [1.0, 2.0, 3.0],
                    windows,
                    client_cpu: 0.1,
                    counters: Default::default(),
                })
            }
        };
        Ok(Found {
            outcome,
            wall_s: self.wall_s,
        })
    }
}
