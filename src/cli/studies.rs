//! `tune study`: what is in the store.

use super::{
    Done,
    args::{Study, StudyCommand},
    context,
    progress::{figure, role_name},
};
use serde_json::{Value, json};
use tune::{
    observation::{Observation, Outcome},
    study::{Listed, StudyStore},
};

/// Lists, shows or removes studies.
pub fn studies(options: &Study) -> Done {
    let mut store = context::open_store(options.store.as_deref())?;
    match &options.what {
        StudyCommand::List => {
            let studies = store.studies()?;
            if options.json {
                println!(
                    "{}",
                    json!({"studies": studies.iter().map(summary).collect::<Vec<_>>()})
                );
            } else {
                studies.iter().for_each(|study| println!("{}", line(study)));
            }
        }
        StudyCommand::Show { name } => {
            let study = store.study(name)?;
            let observations = store.observations(name)?;
            if options.json {
                println!(
                    "{}",
                    json!({"study": summary(&study), "question": study.question, "observations": observations})
                );
            } else {
                println!("{}", line(&study));
                observations.iter().for_each(|o| println!("{}", trial(o)));
            }
        }
        StudyCommand::Remove { name } => {
            store.remove(name)?;
            println!("removed {name}");
        }
    }
    Ok(())
}

fn summary(study: &Listed) -> Value {
    json!({
        "name": study.name,
        "summary": line(study),
        "trials": study.trials,
        "ended": study.end.is_some(),
        "gain": study.end.as_ref().map(|end| json!({"ratio": end.gain.ratio, "ci95": end.gain.ci95})),
    })
}

fn line(study: &Listed) -> String {
    let state = match &study.end {
        Some(end) => format!(
            "gain {:.2} [{:.2}, {:.2}]",
            end.gain.ratio, end.gain.ci95[0], end.gain.ci95[1]
        ),
        None => "not finished".to_owned(),
    };
    format!("{}  {} trials, {state}", study.name, study.trials)
}

fn trial(o: &Observation) -> String {
    let found = match &o.outcome {
        Outcome::Measured(m) => format!("{} +-{:.1}%", figure(m.mean), 196.0 * m.stderr / m.mean),
        Outcome::Failed { reason } => format!("failed: {reason}"),
        Outcome::Void { reason } => format!("void: {reason}"),
    };
    let settings: Vec<String> = o
        .config
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    format!(
        "{:>4}  {:<13} {found}  {}",
        o.trial,
        role_name(o.role),
        settings.join(" ")
    )
}
