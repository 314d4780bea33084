//! What holds for every method, and what Bayes is worth.

use super::*;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::cell::Cell;

fn dims() -> Vec<UnitDim> {
    vec![
        UnitDim::Number {
            steps: None,
            special: 0,
        },
        UnitDim::Number {
            steps: None,
            special: 1,
        },
        UnitDim::Choice { n: 3 },
        UnitDim::Number {
            steps: Some(8),
            special: 0,
        },
        UnitDim::Number {
            steps: None,
            special: 0,
        },
        UnitDim::Choice { n: 2 },
    ]
}

/// Log throughput of a made-up server: a ridge over the first and fourth knob, a choice that matters, two knobs that do nothing.
fn truth(x: &[f64]) -> f64 {
    let off = if x[1] < 0.1 { -0.4 } else { 0.0 };
    let choice = [0.0, 0.25, -0.3][(x[2] * 3.0) as usize];
    8.0 - 2.5 * (x[0] - 0.8).powi(2) - 1.5 * (x[3] - x[0]).powi(2) + off + choice
}

fn told(point: Vec<f64>, rng: &mut Pcg64) -> Told {
    let noise = 0.03 * (rng.random::<f64>() + rng.random::<f64>() + rng.random::<f64>() - 1.5) * 2.0;
    let y = truth(&point) + noise;
    Told {
        point,
        outcome: Some((y, 0.01)),
    }
}

/// Runs a study of `total` suggestions after two first trials; trials fail where `works` is false.
fn study(method: Method, seed: u64, total: usize, works: &dyn Fn(&[f64]) -> bool) -> Vec<Told> {
    let dims = dims();
    let mut rng = Pcg64::seed_from_u64(seed ^ 0xABCD);
    let starts = [vec![0.2; 6], vec![0.5; 6]];
    let mut history: Vec<Told> = starts
        .into_iter()
        .map(|start| {
            told(
                dims.iter().zip(start).map(|(dim, u)| dim.snap(u)).collect(),
                &mut rng,
            )
        })
        .collect();
    for index in 0..total {
        let request = Request {
            dims: &dims,
            history: &history,
            seed,
            index,
            total,
            feasible: &|_| true,
        };
        let point = suggest(method, &request).unwrap();
        let failed = !works(&point);
        let mut told = told(point, &mut rng);
        told.outcome = told.outcome.filter(|_| !failed);
        history.push(told);
    }
    history
}

/// True value of the trial that measured best.
fn found(history: &[Told]) -> f64 {
    let y = |told: &&Told| told.outcome.map_or(f64::NEG_INFINITY, |(y, _)| y);
    truth(&history.iter().max_by(|a, b| y(a).total_cmp(&y(b))).unwrap().point)
}

#[test]
fn bayes_beats_random() {
    let seeds = 1..=5;
    let mean = |method| {
        seeds
            .clone()
            .map(|seed| found(&study(method, seed, 20, &|_| true)))
            .sum::<f64>()
            / 5.0
    };
    let best = truth(&[0.8, 0.5, 0.5, 0.8, 0.5, 0.5]);
    let [bayes, random] = [Method::Bayes, Method::Random].map(|method| best - mean(method));
    assert!(
        bayes < 0.06 && bayes < 0.4 * random,
        "short of the best by {bayes:.3} and {random:.3}"
    );
}

#[test]
fn bayes_learns_what_fails() {
    // The optimum without failures lies inside the failing region, so it is tempting, and the best that works lies on its border:
    // trials on the border are sound, trials deep inside are not.
    let works = |x: &[f64]| x[0] < 0.6;
    let studies = |method| {
        (1..=3)
            .map(move |seed| study(method, seed, 18, &works))
            .collect::<Vec<_>>()
    };
    let [bayes, random] = [Method::Bayes, Method::Random].map(studies);
    let deep = |studies: &[Vec<Told>]| {
        studies
            .iter()
            .flat_map(|s| &s[8..])
            .filter(|t| t.point[0] > 0.7)
            .count()
    };
    assert!(
        3 * deep(&bayes) < deep(&random),
        "{} deep in, {} at random",
        deep(&bayes),
        deep(&random)
    );
    for history in bayes {
        let short = truth(&[0.6, 0.5, 0.5, 0.6, 0.5, 0.5]) - found(&history);
        assert!(short < 0.15, "short of the best that works by {short}");
    }
}

/// A history of `n` random points with the given outcomes.
fn history(dims: &[UnitDim], n: usize, outcome: impl Fn(usize) -> Option<(f64, f64)>) -> Vec<Told> {
    let mut rng = Pcg64::seed_from_u64(9);
    (0..n)
        .map(|i| Told {
            point: dims.iter().map(|dim| dim.snap(rng.random())).collect(),
            outcome: outcome(i),
        })
        .collect()
}

#[test]
fn every_method_is_deterministic_snapped_feasible_and_new() {
    let dims = dims();
    let feasible = |x: &[f64]| x[0] + x[3] < 0.9;
    let history = history(&dims, 12, |i| (i % 4 > 0).then_some((i as f64 * 0.1, 0.01)));
    for method in Method::ALL {
        for index in 0..8 {
            let request = |seed| Request {
                dims: &dims,
                history: &history,
                seed,
                index,
                total: 30,
                feasible: &feasible,
            };
            let point = suggest(method, &request(1)).unwrap();
            assert_eq!(
                suggest(method, &request(1)).as_ref(),
                Some(&point),
                "{method} {index}"
            );
            assert!(feasible(&point), "{method} {index} {point:?}");
            for (dim, &u) in dims.iter().zip(&point) {
                assert!((dim.snap(u) - u).abs() < 1e-12, "{method} {index} {point:?}");
            }
            assert!(!request(1).is_tried(&point), "{method} {index}");
        }
    }
}

#[test]
fn seeds_and_indices_differ() {
    let dims = dims();
    for method in [Method::Sobol, Method::Random] {
        let at = |seed, index| {
            let request = Request {
                dims: &dims,
                history: &[],
                seed,
                index,
                total: 9,
                feasible: &|_| true,
            };
            suggest(method, &request).unwrap()
        };
        assert_ne!(at(1, 0), at(2, 0));
        assert_ne!(at(1, 0), at(1, 1));
    }
}

#[test]
fn sobol_is_more_even_than_chance() {
    let dims = vec![
        UnitDim::Number {
            steps: None,
            special: 0
        };
        300
    ];
    let points: Vec<Vec<f64>> = (0..16)
        .map(|index| {
            let request = Request {
                dims: &dims,
                history: &[],
                seed: 5,
                index,
                total: 16,
                feasible: &|_| true,
            };
            suggest(Method::Sobol, &request).unwrap()
        })
        .collect();
    for dim in 0..300 {
        let mut cells: Vec<usize> = points.iter().map(|point| (point[dim] * 16.0) as usize).collect();
        cells.sort_unstable();
        assert_eq!(cells, (0..16).collect::<Vec<_>>(), "dimension {dim}");
    }
}

#[test]
fn a_grid_ends_and_holds_what_it_does_not_vary() {
    let dims = dims();
    let mut history = history(&dims, 2, |i| Some((i as f64, 0.0)));
    let base = history[1].point.clone();
    let mut index = 0;
    loop {
        let request = Request {
            dims: &dims,
            history: &history,
            seed: 1,
            index,
            total: 9,
            feasible: &|_| true,
        };
        let Some(point) = suggest(Method::Grid, &request) else {
            break;
        };
        assert_eq!(point[3..], base[3..]);
        assert!(
            history[2..].iter().all(|told| told.point != point),
            "{point:?} again"
        );
        history.push(Told {
            point,
            outcome: Some((10.0 + index as f64, 0.0)),
        });
        index += 1;
    }
    assert_eq!(index, 8);
}

#[test]
fn auto_takes_the_grid_where_it_covers_everything() {
    let tiny = [
        UnitDim::Choice { n: 3 },
        UnitDim::Number {
            steps: Some(2),
            special: 1,
        },
    ];
    let request = |dims, total| Request {
        dims,
        history: &[],
        seed: 1,
        index: 0,
        total,
        feasible: &|_| true,
    };
    assert!(grid::covers(&request(&tiny, 9)));
    assert!(!grid::covers(&request(&tiny, 8)));
    assert!(grid::covers(&request(
        &[UnitDim::Number {
            steps: None,
            special: 0
        }],
        5
    )));
    let all: Vec<_> = (0..10)
        .map(|index| {
            suggest(
                Method::Auto,
                &Request {
                    index,
                    ..request(&tiny, 9)
                },
            )
        })
        .collect();
    assert!(all[..9].iter().all(Option::is_some) && all[9].is_none());
}

#[test]
fn nothing_feasible_is_none_in_bounded_tries() {
    let dims = dims();
    let history = history(&dims, 12, |i| Some((i as f64, 0.0)));
    for method in Method::ALL {
        let calls = Cell::new(0);
        let never = |_: &[f64]| {
            calls.set(calls.get() + 1);
            false
        };
        let request = Request {
            dims: &dims,
            history: &history,
            seed: 1,
            index: 9,
            total: 30,
            feasible: &never,
        };
        assert_eq!(suggest(method, &request), None, "{method}");
        assert!(calls.get() < 20_000, "{method}: {}", calls.get());
    }
}

#[test]
fn degenerate_histories_are_answered() {
    let dims = dims();
    type Outcome = fn(usize) -> Option<(f64, f64)>;
    let outcomes: [Outcome; 5] = [
        |_| None,
        |_| Some((1.0, 0.0)),
        |_| Some((f64::NAN, 0.0)),
        |i| Some((if i % 2 == 0 { f64::NEG_INFINITY } else { 1e300 }, f64::INFINITY)),
        |i| Some((if i % 2 == 0 { 1e300 } else { -1e300 }, 0.0)),
    ];
    for outcome in outcomes {
        let mut history = history(&dims, 20, outcome);
        history.push(Told {
            point: vec![0.5],
            outcome: Some((1.0, 0.0)),
        });
        let request = Request {
            dims: &dims,
            history: &history,
            seed: 1,
            index: 18,
            total: 30,
            feasible: &|_| true,
        };
        assert!(suggest(Method::Bayes, &request).is_some());
    }
    // No knobs: there is one configuration.
    let none = history(&[], 20, |i| Some((i as f64, 0.0)));
    for method in Method::ALL {
        let request = Request {
            dims: &[],
            history: &none,
            seed: 1,
            index: 0,
            total: 9,
            feasible: &|_| true,
        };
        assert_eq!(suggest(method, &request), Some(vec![]));
    }
    // Everything was tried: it repeats rather than gives up.
    let tiny = [UnitDim::Choice { n: 2 }, UnitDim::Choice { n: 2 }];
    let history = self::history(&tiny, 40, |i| Some((i as f64 % 3.0, 0.1)));
    let request = Request {
        dims: &tiny,
        history: &history,
        seed: 1,
        index: 38,
        total: 99,
        feasible: &|_| true,
    };
    assert!(request.is_tried(&suggest(Method::Bayes, &request).unwrap()));
}

#[test]
fn names_parse() {
    for method in Method::ALL {
        assert_eq!(method.to_string().parse(), Ok(method));
    }
    assert!(
        "best"
            .parse::<Method>()
            .unwrap_err()
            .contains("auto, bayes, grid, sobol, random")
    );
}
