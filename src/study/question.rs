use super::Durability;
use serde::{Deserialize, Serialize};

/// What a study asks: profile x workload x space x objective, and how long it may look for the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Name of the hardware profile.
    pub profile: String,
    /// Its text, so that an edited profile is another question.
    pub profile_text: String,
    /// Name of the workload.
    pub workload: String,
    /// Rows asked for; none for the published size.
    pub rows: Option<u64>,
    /// Name of the space.
    pub space: String,
    /// Its text.
    pub space_text: String,
    /// The server's version line and its binary.
    pub server: String,
    /// Scale of the model.
    pub scale: f64,
    /// Class that every trial keeps.
    pub durability: Durability,
    /// Whether there is a binary log.
    pub binlog: bool,
    /// The optimizer.
    pub optimizer: String,
    /// The seed.
    pub seed: u64,
    /// Trials asked for; none where the budget alone decides.
    pub trials: Option<u32>,
    /// Seconds that trials may take.
    pub budget_s: f64,
}

impl Question {
    /// What makes two questions the same: all but how long the answer may take.
    pub fn asks(&self) -> String {
        let same = Question {
            trials: None,
            budget_s: 0.0,
            ..self.clone()
        };
        serde_json::to_string(&same).unwrap_or_default()
    }

    #[cfg(test)]
    pub(crate) fn example() -> Self {
        Question {
            profile: "box".into(),
            profile_text: String::new(),
            workload: "iibench".into(),
            rows: None,
            space: "core".into(),
            space_text: String::new(),
            server: "mariadb-10.11.19".into(),
            scale: 0.0625,
            durability: Durability::Strict,
            binlog: false,
            optimizer: "bayes".into(),
            seed: 1,
            trials: None,
            budget_s: 300.0,
        }
    }
}
