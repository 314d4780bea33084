//! What-if, from a study's own model: all else as the study recommends.

use crate::{
    catalog::{Catalog, ValueError},
    model::Gp,
    observation::Observation,
    source::nearest_first,
    study::{StudyEnd, history},
    units::{Bytes, Config, Value},
};

/// Share of the prior's uncertainty above which the data have next to nothing to say.
const FAR: f64 = 0.8;

/// What the model says of one configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct WhatIf {
    /// Mean of the true throughput.
    pub mean: f64,
    /// 50% interval of the true mean.
    pub ci50: [f64; 2],
    /// 95% interval of the true mean.
    pub ci95: [f64; 2],
    /// 95% interval of one new measured trial.
    pub pi95: [f64; 2],
    /// Ratio to the server's defaults.
    pub ratio: f64,
    /// Its 95% interval.
    pub ratio_ci95: [f64; 2],
}

/// An answer: a prediction, or why there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The prediction; none where nobody has measured near there.
    pub prediction: Option<WhatIf>,
    /// Whether it lies outside the study's data.
    pub extrapolating: bool,
    /// Where the answer comes from, or why there is none, in a sentence.
    pub why: String,
    /// Unit of throughput.
    pub unit: String,
}

/// A question that makes no sense, or a study that cannot answer.
#[derive(Debug, thiserror::Error)]
pub enum WhatIfError {
    /// There is no such variable.
    #[error("{flavor} has no variable {name} that tune knows; the nearest: {nearest}")]
    UnknownVariable {
        /// The name given.
        name: String,
        /// The server.
        flavor: String,
        /// A similar name.
        nearest: String,
    },
    /// The server does not take the value.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// A buffer pool that does not fit.
    #[error("a buffer pool of {pool} does not fit into the profile's RAM of {ram}")]
    TooMuchMemory {
        /// The pool.
        pool: String,
        /// The RAM.
        ram: String,
    },
    /// Too few trials.
    #[error("study '{study}' has too few measured trials for a model")]
    NoModel {
        /// The study.
        study: String,
    },
}

/// What `sets` (name and value as in an option file) would give.
pub fn what_if(
    end: &StudyEnd,
    observations: &[Observation],
    catalog: &Catalog,
    sets: &[(String, String)],
) -> Result<Answer, WhatIfError> {
    let mut config: Config = end
        .settings
        .iter()
        .map(|s| (s.name.clone(), s.value.clone()))
        .collect();
    let nobody = |why: String| Answer {
        prediction: None,
        extrapolating: true,
        why,
        unit: end.unit.clone(),
    };
    let mut outside = None;
    for (name, text) in sets {
        let variable = catalog.get(name).ok_or_else(|| {
            let nearest = nearest_first(name, catalog.iter().map(|v| v.name.as_str()));
            WhatIfError::UnknownVariable {
                name: name.clone(),
                flavor: end.flavor.to_string(),
                nearest: nearest.first().copied().unwrap_or("none").to_owned(),
            }
        })?;
        let value = variable.parse(text)?;
        if let (Value::Bytes(pool), "innodb_buffer_pool_size") = (&value, name.as_str())
            && *pool > end.ram
        {
            return Err(WhatIfError::TooMuchMemory {
                pool: value.to_string(),
                ram: Bytes(end.ram).to_string(),
            });
        }
        match end.searched.knobs.iter().find(|knob| knob.name == *name) {
            None => {
                outside = Some(format!(
                    "this study did not vary {name}, so nobody has measured near there"
                ));
            }
            Some(knob) if knob.encode(&value).is_none() => {
                outside = Some(format!(
                    "{name} = {value} lies outside what this study searched ({}), so nobody has measured near there",
                    knob.shown()
                ));
            }
            Some(_) => {}
        }
        config.insert(name.clone(), value);
    }
    if let Some(why) = outside {
        return Ok(nobody(why));
    }
    let data = history::data_of(
        &end.searched,
        &end.baseline_config,
        end.baseline_in_space,
        observations,
    );
    let gp = Gp::fit(&end.searched.dims(), &data, end.seed).map_err(|_| WhatIfError::NoModel {
        study: end.study.clone(),
    })?;
    let point = end.searched.nearest(&config);
    let prediction = gp.predict(&point);
    let interval = |z: f64, sd: f64| {
        [
            (prediction.log_mean - z * sd).exp(),
            (prediction.log_mean + z * sd).exp(),
        ]
    };
    let base = end.baseline;
    // The interval of the baseline is one of its logarithm.
    let base_sd = (base.ci95[1] / base.ci95[0]).ln() / (2.0 * 1.96);
    let ratio_sd = prediction.log_sd.hypot(base_sd);
    let log_ratio = prediction.log_mean - base.mean.ln();
    let far = gp.prior_share(&point) > FAR;
    let source = format!(
        "from the model of study {} ({} measured trials), all else as it recommends",
        end.study,
        data.len()
    );
    Ok(Answer {
        prediction: Some(WhatIf {
            mean: prediction.log_mean.exp(),
            ci50: interval(0.6745, prediction.log_sd),
            ci95: interval(1.96, prediction.log_sd),
            pi95: interval(1.96, prediction.log_sd.hypot(prediction.log_noise_sd)),
            ratio: log_ratio.exp(),
            ratio_ci95: [
                (log_ratio - 1.96 * ratio_sd).exp(),
                (log_ratio + 1.96 * ratio_sd).exp(),
            ],
        }),
        extrapolating: far,
        why: if far {
            format!("{source}; no trial was near this configuration")
        } else {
            source
        },
        unit: end.unit.clone(),
    })
}
