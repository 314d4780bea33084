use super::spawn;
use crate::catalog::{Family, Flavor};
use std::{
    fmt::Write as _,
    io,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

/// Where packages and installers put the server, tried after the caller's own search path.
const USUAL_FOLDERS: [&str; 13] = [
    "/usr/sbin",
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/bin",
    "/usr/libexec",
    "/usr/local/libexec",
    "/usr/local/mysql/bin",
    "/usr/local/mariadb/bin",
    "/usr/lib/mysql",
    "/opt/mysql/bin",
    "/opt/mariadb/bin",
    "/opt/homebrew/bin",
    "/opt/homebrew/opt/mariadb/bin",
];

const PROGRAMS: [&str; 2] = ["mariadbd", "mysqld"];

/// `--version` answers at once; a program that does not is no server.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);

/// A server binary, or a script that runs one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Absolute path of the binary or script.
    pub path: PathBuf,
    /// Who makes it, and which release.
    pub flavor: Flavor,
    /// What it prints for `--version`, without the program's path.
    pub build: String,
    /// 16 hexadecimal digits that change with the binary (its size, its modification time, its version line): a key
    /// for data directories, which only the build that made them is sure to open.
    pub build_id: String,
}

/// Why there is no server to run.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// Nothing on the usual paths.
    #[error(
        "no MariaDB or MySQL server was found (looked for mariadbd and mysqld in {looked}). Install one:\n  \
         Debian, Ubuntu: apt install mariadb-server\n  Fedora: dnf install mariadb-server\n  macOS: brew install mariadb\n\
         or name one with --server PATH"
    )]
    NotInstalled {
        /// The folders searched.
        looked: String,
    },
    /// The path that was named does not exist.
    #[error("there is no server at {}", .0.display())]
    NoSuchFile(PathBuf),
    /// The program could not be run.
    #[error("{} cannot be run: {source}", .path.display())]
    CannotRun {
        /// The program.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The program is something else.
    #[error("{} is not a MariaDB or MySQL server: asked for its version, it said '{said}'", .path.display())]
    NotAServer {
        /// The program.
        path: PathBuf,
        /// Its first line.
        said: String,
    },
}

impl Server {
    /// The server at `explicit` (a mariadbd, a mysqld, or a script that hands its arguments to one), or else the first
    /// that answers, looking in the folders of `search_path` (the caller's PATH) and then in the usual ones.
    ///
    /// # Errors
    /// [`FindError`]; without `explicit`, a server that is there but does not run is reported only when no other runs.
    pub fn find(explicit: Option<&Path>, search_path: &[PathBuf]) -> Result<Self, FindError> {
        let folders = || {
            search_path
                .iter()
                .cloned()
                .chain(USUAL_FOLDERS.map(PathBuf::from))
        };
        if let Some(path) = explicit {
            let bare_name = path.components().count() == 1 && !path.exists();
            let found = if bare_name {
                folders().map(|f| f.join(path)).find(|p| p.is_file())
            } else {
                None
            };
            return Self::at(&found.unwrap_or_else(|| path.to_owned()));
        }
        let mut broken = None;
        for path in folders().flat_map(|folder| PROGRAMS.map(|program| folder.join(program))) {
            match Self::at(&path) {
                Ok(server) => return Ok(server),
                Err(FindError::NoSuchFile(_)) => {}
                Err(error) => broken = broken.or(Some(error)),
            }
        }
        let looked = folders()
            .map(|f| f.display().to_string())
            .collect::<Vec<_>>()
            .join(", ");
        Err(broken.unwrap_or(FindError::NotInstalled { looked }))
    }

    /// The server at `path`, asked for its version.
    fn at(path: &Path) -> Result<Self, FindError> {
        let cannot_run = |source| FindError::CannotRun {
            path: path.to_owned(),
            source,
        };
        let path = std::path::absolute(path).map_err(cannot_run)?;
        let file = std::fs::metadata(&path).map_err(|_| FindError::NoSuchFile(path.clone()))?;
        if !file.is_file() || file.permissions().mode() & 0o111 == 0 {
            return Err(cannot_run(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "it is not a program",
            )));
        }
        let output = spawn::output(
            Command::new(&path).args(["--no-defaults", "--version"]),
            ANSWER_WITHIN,
        )
        .map_err(cannot_run)?;
        let said = output
            .stdout
            .lines()
            .chain(output.stderr.lines())
            .next()
            .unwrap_or_default();
        let (flavor, build) = parse_version_line(said).ok_or_else(|| FindError::NotAServer {
            path: path.clone(),
            said: said.to_owned(),
        })?;
        let key = format!("{} {} {} {build}", file.size(), file.mtime(), file.mtime_nsec());
        Ok(Self {
            path,
            flavor,
            build_id: fnv1a(key.as_bytes()),
            build,
        })
    }
}

/// Flavor and text of a line such as `/usr/sbin/mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu`.
fn parse_version_line(line: &str) -> Option<(Flavor, String)> {
    let (program, build) = line.split_once(" Ver ")?;
    let program = program.trim().rsplit('/').next()?;
    // `mysqldump` and the clients (`Ver 15.1 Distrib 10.11.19-MariaDB`) have version lines too.
    let server = PROGRAMS.iter().any(|name| program.contains(name)) && !program.contains("dump");
    if !server || build.contains("Distrib") {
        return None;
    }
    let digits = build
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(build.len());
    let version = build[..digits].trim_end_matches('.').parse().ok()?;
    let family = if build.contains("MariaDB") {
        Family::MariaDb
    } else if build.contains("Percona") {
        Family::Percona
    } else {
        Family::MySql
    };
    Some((Flavor { family, version }, build.trim().to_owned()))
}

/// 64-bit FNV-1a in hexadecimal: the same on every machine and with every compiler, as the name of a cached folder must be.
fn fnv1a(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mut text = String::new();
    let _ = write!(text, "{hash:016x}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_version_lines() {
        for (line, flavor) in [
            (
                "/usr/sbin/mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)",
                "mariadb-10.11.19",
            ),
            (
                "/opt/x/usr/sbin/mariadbd  Ver 11.8.9-MariaDB-0+deb13u1 from Debian for debian-linux-gnu on x86_64 (--)",
                "mariadb-11.8.9",
            ),
            (
                "mysqld  Ver 10.3.39-MariaDB-0+deb10u2 for debian-linux-gnu on x86_64 (Debian 10)",
                "mariadb-10.3.39",
            ),
            (
                "/usr/sbin/mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))",
                "mysql-9.7.4",
            ),
            (
                "/usr/sbin/mysqld  Ver 8.0.36 for Linux on x86_64 (MySQL Community Server - GPL)",
                "mysql-8.0.36",
            ),
            (
                "mysqld  Ver 5.7.44-log for Linux on x86_64 (MySQL Community Server (GPL))",
                "mysql-5.7.44",
            ),
            (
                "mysqld  Ver 8.0.36-28 for Linux on x86_64 (Percona Server (GPL), Release 28, Revision 47601f19)",
                "percona-8.0.36",
            ),
        ] {
            let (parsed, build) = parse_version_line(line).expect(line);
            assert_eq!(parsed.to_string(), flavor);
            assert!(line.ends_with(&build));
        }
    }

    #[test]
    fn lines_of_other_programs() {
        for line in [
            "",
            "mysqld",
            "yes (GNU coreutils) 9.1",
            "mariadb  Ver 15.1 Distrib 10.11.19-MariaDB, for debian-linux-gnu (x86_64)",
            "mysql  Ver 8.0.36 for Linux on x86_64 (MySQL Community Server - GPL)",
            "mysqldump  Ver 8.0.36 for Linux on x86_64 (MySQL Community Server - GPL)",
            "mysqld  Ver unknown",
        ] {
            assert_eq!(parse_version_line(line), None, "{line}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_path() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("mariadbd");
        assert!(matches!(Server::find(Some(&missing), &[]), Err(FindError::NoSuchFile(p)) if p == missing));
        std::fs::write(&missing, "no program").unwrap();
        assert!(matches!(
            Server::find(Some(&missing), &[]),
            Err(FindError::CannotRun { .. })
        ));
        let error = Server::find(Some(Path::new("/bin/true")), &[]).unwrap_err();
        assert!(matches!(error, FindError::NotAServer { .. }), "{error}");
    }

    #[test]
    fn a_script_is_found_on_the_search_path_and_its_build_is_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("mariadbd");
        let write = |version: &str| {
            // Written by another process: while one of ours holds it open for writing, no test could run it.
            let text = format!("#!/bin/sh\necho 'mariadbd  Ver {version}-MariaDB for Linux'");
            let write = r#"printf '%s\n' "$1" >"$2" && chmod 755 "$2""#;
            let written = Command::new("/bin/sh")
                .args(["-c", write, "sh", &text])
                .arg(&script)
                .status();
            assert!(written.unwrap().success());
            Server::find(None, &[folder.path().to_owned()]).unwrap()
        };
        let (one, two) = (write("10.6.1"), write("10.6.2"));
        assert_eq!(
            (one.path.as_path(), one.flavor.to_string()),
            (script.as_path(), "mariadb-10.6.1".to_owned())
        );
        assert_ne!(one.build_id, two.build_id);
        assert_eq!(
            Server::find(Some(Path::new("mariadbd")), &[folder.path().to_owned()]).unwrap(),
            two
        );
    }

    #[test]
    fn says_what_to_install() {
        let text = FindError::NotInstalled {
            looked: "/usr/sbin".to_owned(),
        }
        .to_string();
        for command in [
            "apt install mariadb-server",
            "dnf install mariadb-server",
            "brew install mariadb",
        ] {
            assert!(text.contains(command), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_line_is_survived(line: String) {
            let _ = parse_version_line(&line);
            let _ = parse_version_line(&format!("mysqld Ver {line}"));
        }
    }
}
