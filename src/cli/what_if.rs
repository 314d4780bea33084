//! `tune what-if`: what a study's model says about a configuration that was not tried.

use super::{Done, args::WhatIf, context, error::Failure, progress::figure};
use serde_json::{Value as Json, json};
use tune::{
    advise::{Answer, WhatIfError, what_if as ask},
    catalog::Catalog,
    study::StudyStore,
};

/// Answers from the study's model.
pub fn what_if(options: &WhatIf) -> Done {
    let store = context::open_store(options.store.as_deref())?;
    let study = store.study(&options.study)?;
    let observations = store.observations(&options.study)?;
    let end = study
        .end
        .ok_or_else(|| Failure::usage(format!("study '{}' is not finished", options.study)))?;
    let catalog = Catalog::for_flavor(end.flavor)?;
    let mut sets = Vec::new();
    for set in &options.set {
        let (name, value) = set.split_once('=').ok_or_else(|| {
            Failure::usage(format!(
                "--set {set}: write NAME=VALUE, such as innodb_buffer_pool_size=8G"
            ))
        })?;
        sets.push((name.trim().replace('-', "_"), value.trim().to_owned()));
    }
    let answer = ask(&end, &observations, &catalog, &sets).map_err(|error| match error {
        WhatIfError::NoModel { .. } => Failure::work(error),
        _ => Failure::usage(error),
    })?;
    if options.json {
        println!("{}", json!({"predictions": [to_json(&sets, &answer)]}));
    } else {
        print!("{}", to_text(&answer));
    }
    Ok(())
}

fn to_json(sets: &[(String, String)], answer: &Answer) -> Json {
    let set: serde_json::Map<String, Json> = sets
        .iter()
        .map(|(n, v)| (n.clone(), Json::from(v.as_str())))
        .collect();
    let p = answer.prediction.as_ref();
    json!({
        "set": set,
        "mean": p.map(|p| p.mean),
        "ci95": p.map(|p| p.ci95),
        "pi95": p.map(|p| p.pi95),
        "intervals": p.map(|p| json!({"0.5": p.ci50, "0.95": p.ci95})),
        "ratio_to_baseline": p.map(|p| p.ratio),
        "ratio_ci95": p.map(|p| p.ratio_ci95),
        "extrapolating": answer.extrapolating,
        "why": answer.why,
    })
}

fn to_text(answer: &Answer) -> String {
    let mut text = String::new();
    if let Some(p) = &answer.prediction {
        let unit = &answer.unit;
        text += &format!(
            "{} {unit}  95% [{}, {}]\n",
            figure(p.mean),
            figure(p.ci95[0]),
            figure(p.ci95[1])
        );
        text += &format!(
            "one new trial would measure  95% [{}, {}]\n",
            figure(p.pi95[0]),
            figure(p.pi95[1])
        );
        text += &format!(
            "{:.2} times the server's defaults  95% [{:.2}, {:.2}]\n",
            p.ratio, p.ratio_ci95[0], p.ratio_ci95[1]
        );
    }
    text + &answer.why + "\n"
}
