//! `tune list`: what there is.

use super::{
    Done,
    args::{List, Listable},
    context,
    error::Failure,
};
use serde_json::{Map, Value, json};
use tune::{
    catalog::Catalog,
    profile::{self, Profile},
    server::Server,
    space, workload,
};

/// Lists names with a summary each.
pub fn list(options: &List) -> Done {
    let here = context::here();
    let (key, rows) = match options.what {
        Listable::Profiles => ("profiles", profiles(&here)?),
        Listable::Workloads => (
            "workloads",
            workload::ALL
                .iter()
                .map(|(n, s)| ((*n).to_owned(), (*s).to_owned()))
                .collect(),
        ),
        Listable::Spaces => ("spaces", spaces(&here)?),
        Listable::Servers => ("servers", servers()?),
        Listable::Variables => ("variables", variables(options)?),
        // No model has been fitted and shipped so far.
        Listable::Models => ("models", Vec::new()),
    };
    if options.json {
        let items: Vec<Value> = rows
            .iter()
            .map(|(name, summary)| json!({"name": name, "summary": summary}))
            .collect();
        println!(
            "{}",
            Value::Object(Map::from_iter([(key.to_owned(), Value::Array(items))]))
        );
        return Ok(());
    }
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, summary) in rows {
        println!("{name:width$}  {summary}");
    }
    Ok(())
}

fn profiles(here: &std::path::Path) -> Result<Vec<(String, String)>, Failure> {
    profile::SHELF
        .all(here)
        .into_iter()
        .map(|(name, source)| {
            let profile = Profile::parse(&source)?;
            let assumed = if profile.assumed.is_empty() {
                ""
            } else {
                " (parts assumed)"
            };
            Ok((name, format!("{}{assumed}", profile.summary)))
        })
        .collect()
}

fn spaces(here: &std::path::Path) -> Result<Vec<(String, String)>, Failure> {
    space::SHELF
        .all(here)
        .into_iter()
        .map(|(name, source)| Ok((name, space::RawSpace::parse(&source)?.summary().to_owned())))
        .collect()
}

fn servers() -> Result<Vec<(String, String)>, Failure> {
    let server = Server::find(None, &context::search_path())?;
    Ok(vec![(
        server.flavor.to_string(),
        format!("{}  {}", server.path.display(), server.build),
    )])
}

fn variables(options: &List) -> Result<Vec<(String, String)>, Failure> {
    let flavor = match options.flavor {
        Some(flavor) => flavor,
        None => Server::find(None, &context::search_path())?.flavor,
    };
    let catalog = Catalog::for_flavor(flavor)?;
    Ok(catalog
        .iter()
        .map(|v| (v.name.clone(), format!("{} (default {})", v.about, v.default)))
        .collect())
}
