use super::{holds_one, memory, redo_bytes};
use crate::{
    catalog::Variable,
    study::{Ratio, Reason, StudyEnd},
    units::Bytes,
};

/// Something that a person should know before using the recommendation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The variable or the figure that it is about.
    pub about: String,
    /// What was found and what to do, in a sentence or two.
    pub text: String,
}

/// Above this share of RAM the operating system has too little left and swaps.
const MEMORY_LIMIT: f64 = 0.9;
/// From this share of one-second windows under half the mean on, users would notice.
const STALL_LIMIT: f64 = 0.05;

/// Looks over a finished study as a careful colleague would. Empty where there is nothing to say.
pub fn hand_review<'v>(end: &StudyEnd, lookup: impl Fn(&str) -> Option<&'v Variable>) -> Vec<Finding> {
    [
        gain(&end.gain, "the server's defaults", "gain"),
        end.gain_over_rule
            .as_ref()
            .and_then(|ratio| gain(ratio, "the rule of thumb", "gain over the rule of thumb")),
        memory_use(end, &lookup),
        redo_over_pool(end, &lookup),
        assumed_array(end),
        stalls(end),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn finding(about: &str, text: String) -> Option<Finding> {
    Some(Finding {
        about: about.to_owned(),
        text,
    })
}

fn gain(ratio: &Ratio, over: &str, about: &str) -> Option<Finding> {
    if holds_one(ratio.ci95) {
        return finding(
            about,
            format!("No difference from {over} was found: the 95% interval of the ratio holds 1."),
        );
    }
    if ratio.ci95[1] < 1.0 {
        return finding(
            about,
            format!(
                "The recommendation was slower than {over} in the interleaved repeats: do not use it in their place."
            ),
        );
    }
    None
}

fn memory_use<'v>(end: &StudyEnd, lookup: &impl Fn(&str) -> Option<&'v Variable>) -> Option<Finding> {
    let memory = memory(end, lookup);
    if memory.share() <= MEMORY_LIMIT {
        return None;
    }
    let text = format!(
        "The settings can take {} of {} RAM, more than {:.0}%: the operating system may swap. Lower the pool, max_connections or the \
         buffers of a connection.",
        Bytes(memory.total()).rounded(),
        Bytes(memory.ram).rounded(),
        MEMORY_LIMIT * 100.0
    );
    finding("memory", text)
}

fn redo_over_pool<'v>(end: &StudyEnd, lookup: &impl Fn(&str) -> Option<&'v Variable>) -> Option<Finding> {
    let redo = redo_bytes(end, lookup)?;
    let pool = end
        .settings
        .iter()
        .find(|s| s.name == "innodb_buffer_pool_size")
        .map(|s| &s.value);
    let pool = pool
        .or_else(|| lookup("innodb_buffer_pool_size").map(|v| &v.default))?
        .number()? as u64;
    if redo <= pool {
        return None;
    }
    let text = format!(
        "The redo log ({}) is larger than the buffer pool ({}): recovery after a crash reads all of it and takes long, and throughput may \
         fall once it has filled. Measure the recovery time that you can bear.",
        Bytes(redo),
        Bytes(pool)
    );
    finding("redo log", text)
}

fn assumed_array(end: &StudyEnd) -> Option<Finding> {
    let by_rule = end
        .settings
        .iter()
        .any(|s| s.name == "innodb_io_capacity" && matches!(s.reason, Reason::Rule(_)));
    let array: Vec<&str> = end
        .profile_assumed
        .iter()
        .map(String::as_str)
        .filter(|key| key.split('.').next() == Some("storage"))
        .collect();
    if !by_rule || array.is_empty() {
        return None;
    }
    let text = format!(
        "It is set by rule from figures of the array that the profile assumes ({}). Measure yours (`tune detect`) and correct it.",
        array.join(", ")
    );
    finding("innodb_io_capacity", text)
}

fn stalls(end: &StudyEnd) -> Option<Finding> {
    if end.stalls.is_nan() || end.stalls <= STALL_LIMIT {
        return None;
    }
    let text = format!(
        "In {:.0}% of its seconds the recommendation did less than half its mean: flushing comes in bursts. Where even response matters more \
         than the mean, try a higher innodb_io_capacity or a smaller redo log.",
        end.stalls * 100.0
    );
    finding("stalls", text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{advise::sample, units::Value};

    fn about(end: &StudyEnd) -> Vec<String> {
        let (_, variables) = sample::mariadb();
        hand_review(end, |name| variables.get(name))
            .into_iter()
            .map(|f| f.about)
            .collect()
    }

    #[test]
    fn each_finding_has_its_cause() {
        let (end, _) = sample::mariadb();
        assert_eq!(about(&end), ["gain over the rule of thumb", "innodb_io_capacity"]);
        let mut worse = end.clone();
        worse.profile_assumed.clear();
        worse.gain.ci95 = [0.8, 0.9];
        worse.gain_over_rule = worse.gain_over_rule.map(|r| Ratio {
            ci95: [1.1, 1.2],
            ..r
        });
        worse.stalls = 0.2;
        worse.ram = 12 << 30;
        for setting in &mut worse.settings {
            if setting.name == "innodb_log_file_size" {
                setting.value = Value::Bytes(12 << 30);
            }
        }
        assert_eq!(about(&worse), ["gain", "memory", "redo log", "stalls"]);
    }

    #[test]
    fn figures_that_are_not_numbers_show_no_gain() {
        let (mut end, _) = sample::mariadb();
        end.gain.ci95 = [f64::NAN; 2];
        end.stalls = f64::NAN;
        assert_eq!(about(&end)[0], "gain");
    }
}
