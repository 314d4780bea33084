use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::{fmt, str::FromStr};

/// Who makes the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// MariaDB Server.
    MariaDb,
    /// Oracle's MySQL Server.
    MySql,
    /// Percona Server for MySQL.
    Percona,
}

/// A release, `10.11.19`; a part that is not stated is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// First part.
    pub major: u16,
    /// Second part.
    pub minor: u16,
    /// Third part.
    pub patch: u16,
}

/// A server: family and release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Flavor {
    /// Who makes it.
    pub family: Family,
    /// Which release.
    pub version: Version,
}

/// A text that names no flavor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a server flavor such as mariadb-10.11 or mysql-8.0.36")]
pub struct FlavorError(pub String);

impl Family {
    /// `mariadb`, `mysql` or `percona`.
    pub fn name(self) -> &'static str {
        match self {
            Family::MariaDb => "mariadb",
            Family::MySql => "mysql",
            Family::Percona => "percona",
        }
    }

    /// As the makers write it.
    pub fn title(self) -> &'static str {
        match self {
            Family::MariaDb => "MariaDB",
            Family::MySql => "MySQL",
            Family::Percona => "Percona Server",
        }
    }
}

impl Version {
    /// A version of its three parts.
    pub const fn new(major: u16, minor: u16, patch: u16) -> Self {
        Self { major, minor, patch }
    }
}

impl FromStr for Version {
    type Err = FlavorError;

    /// Parses `10.11.19`, `8.0`, `9`.
    fn from_str(text: &str) -> Result<Self, FlavorError> {
        let error = || FlavorError(text.to_owned());
        let mut parts = [0; 3];
        for (i, part) in text.split('.').enumerate() {
            *parts.get_mut(i).ok_or_else(error)? = part.parse().map_err(|_| error())?;
        }
        Ok(Self::new(parts[0], parts[1], parts[2]))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl FromStr for Flavor {
    type Err = FlavorError;

    /// Parses `mariadb-10.11`, `mysql-8.0.36`, `percona-8.0`.
    fn from_str(text: &str) -> Result<Self, FlavorError> {
        let error = || FlavorError(text.to_owned());
        let (family, version) = text.split_once('-').ok_or_else(error)?;
        let family = match family.to_ascii_lowercase().as_str() {
            "mariadb" => Family::MariaDb,
            "mysql" => Family::MySql,
            "percona" => Family::Percona,
            _ => return Err(error()),
        };
        Ok(Self {
            family,
            version: version.parse().map_err(|_| error())?,
        })
    }
}

impl fmt::Display for Flavor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.family.name(), self.version)
    }
}

impl Serialize for Flavor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Flavor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

/// Servers that something applies to: `mariadb`, `mysql >= 8.0.30`, `mariadb >= 10.5 < 11.0`. Percona Server counts as MySQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Servers {
    family: Family,
    from: Option<Version>,
    until: Option<Version>,
}

impl Servers {
    /// Whether `flavor` is meant: the family fits, the version is at or above the lower and below the upper bound.
    pub fn include(&self, flavor: Flavor) -> bool {
        let family = if flavor.family == Family::Percona {
            Family::MySql
        } else {
            flavor.family
        };
        family == self.family
            && self.from.is_none_or(|v| flavor.version >= v)
            && self.until.is_none_or(|v| flavor.version < v)
    }
}

impl FromStr for Servers {
    type Err = FlavorError;

    fn from_str(text: &str) -> Result<Self, FlavorError> {
        let error = || FlavorError(text.to_owned());
        let mut words = text.split_whitespace();
        let family = match words.next() {
            Some("mariadb") => Family::MariaDb,
            Some("mysql") => Family::MySql,
            _ => return Err(error()),
        };
        let mut servers = Servers {
            family,
            from: None,
            until: None,
        };
        while let Some(sign) = words.next() {
            let version = words.next().ok_or_else(error)?.parse()?;
            match sign {
                ">=" => servers.from = Some(version),
                "<" => servers.until = Some(version),
                _ => return Err(error()),
            }
        }
        Ok(servers)
    }
}

impl<'de> Deserialize<'de> for Servers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|_| {
            de::Error::custom(format!(
                "'{text}' names no servers; write `mariadb >= 10.5 < 11.0` or `mysql`"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flavors_parse_and_print() {
        let flavor: Flavor = "mariadb-10.11.19".parse().unwrap();
        assert_eq!(
            flavor,
            Flavor {
                family: Family::MariaDb,
                version: Version::new(10, 11, 19)
            }
        );
        assert_eq!(flavor.to_string(), "mariadb-10.11.19");
        assert_eq!(
            "mysql-8.0".parse::<Flavor>().unwrap().version,
            Version::new(8, 0, 0)
        );
        for text in ["mariadb", "oracle-1", "mysql-8.x", "mysql-1.2.3.4", ""] {
            assert!(text.parse::<Flavor>().is_err(), "{text}");
        }
    }

    #[test]
    fn ranges_of_servers() {
        let flavor = |t: &str| t.parse::<Flavor>().unwrap();
        let servers: Servers = "mariadb >= 10.5 < 11.0".parse().unwrap();
        assert!(servers.include(flavor("mariadb-10.11.19")));
        assert!(!servers.include(flavor("mariadb-11.0.1")));
        assert!(!servers.include(flavor("mysql-10.6")));
        assert!(
            "mysql >= 8.0.30"
                .parse::<Servers>()
                .unwrap()
                .include(flavor("percona-8.0.36"))
        );
        for text in ["", "oracle", "mysql =8", "mysql >="] {
            assert!(text.parse::<Servers>().is_err(), "{text}");
        }
    }
}
