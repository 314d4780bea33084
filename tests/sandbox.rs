//! The sandbox with a real server: the one that `TUNE_TEST_SERVER` names, or the one that is installed.

use mysql_async::prelude::Queryable as _;
use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};
use tune::catalog::Family;
use tune::server::{
    Launch, Ledger, ProcessId, RunFolder, Running, Server, StartError, copy_tree, initialise, status,
};

const MINUTE: Duration = Duration::from_secs(60);

/// Without a server these tests fail: a sandbox that was never tried must not pass for one that works.
fn server() -> Server {
    let named = std::env::var_os("TUNE_TEST_SERVER").map(PathBuf::from);
    match Server::find(named.as_deref(), &[]) {
        Ok(server) => server,
        Err(error) => panic!("these tests need a MariaDB or MySQL server: {error}"),
    }
}

fn options(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

fn launch(options: &[(String, String)]) -> Launch<'_> {
    Launch {
        options,
        binlog: false,
        ready_within: MINUTE,
    }
}

async fn new_data_directory(
    state: &Path,
    server: &Server,
    fixed: &[(String, String)],
) -> (Ledger, RunFolder) {
    let ledger = Ledger::open(state).unwrap();
    let run = RunFolder::new(&ledger).unwrap();
    initialise(server, &run, fixed).await.unwrap();
    (ledger, run)
}

/// Files and folders below the state folder.
fn left_in(state: &Path) -> Vec<PathBuf> {
    ["run", "ledger"]
        .iter()
        .flat_map(|f| fs::read_dir(state.join(f)).unwrap())
        .map(|e| e.unwrap().path())
        .collect()
}

#[tokio::test]
async fn from_nothing_to_nothing() {
    let (state, server) = (tempfile::tempdir().unwrap(), server());
    let (ledger, run) = new_data_directory(state.path(), &server, &[]).await;
    let small = options(&[("innodb_buffer_pool_size", "32M")]);

    let running = Running::start(&server, &run, launch(&small)).await.unwrap();
    let mut conn = running.connect().await.unwrap();
    conn.query_drop("CREATE DATABASE d").await.unwrap();
    conn.query_drop("CREATE TABLE d.t (a INT PRIMARY KEY) ENGINE=InnoDB")
        .await
        .unwrap();
    conn.query_drop("INSERT INTO d.t VALUES (1), (2)").await.unwrap();
    let variables: Option<(u64, bool, bool)> = conn
        .query_first("SELECT @@innodb_buffer_pool_size, @@skip_networking, @@log_bin")
        .await
        .unwrap();
    assert_eq!(variables, Some((32 << 20, true, false)));
    let databases: Vec<String> = conn.query("SHOW DATABASES").await.unwrap();
    assert!(!databases.contains(&"test".to_owned()));
    let counters = status(&mut conn).await.unwrap();
    assert!(counters["Uptime"] >= 0.0 && counters["Innodb_buffer_pool_pages_total"] > 1000.0);
    conn.disconnect().await.unwrap();
    let (id, socket) = (ProcessId::of(running.pid()).unwrap(), run.socket());
    let stopped = running.shutdown(MINUTE).await.unwrap();
    assert!(stopped.clean, "{}", fs::read_to_string(run.error_log()).unwrap());
    assert!(!id.lives() && !socket.exists());

    // A trial: restored from the snapshot, killed, and started again on what the crash left.
    let trial = RunFolder::new(&ledger).unwrap();
    copy_tree(&run.data(), &trial.data()).unwrap();
    let mut running = Running::start(&server, &trial, launch(&small)).await.unwrap();
    assert_eq!(running.died(), None);
    let mut conn = running.connect().await.unwrap();
    conn.query_drop("INSERT INTO d.t VALUES (3)").await.unwrap();
    drop(conn);
    let id = ProcessId::of(running.pid()).unwrap();
    running.kill();
    assert!(!id.lives());
    let running = Running::start(
        &server,
        &trial,
        Launch {
            binlog: true,
            ..launch(&small)
        },
    )
    .await
    .unwrap();
    assert!(running.ready_after() > Duration::ZERO);
    let mut conn = running.connect().await.unwrap();
    // Two questions: with an aggregate in the same one MariaDB 10.11 and 11.8 answer 0 for every switch.
    let rows: Option<u32> = conn.query_first("SELECT COUNT(*) FROM d.t").await.unwrap();
    let binlog: Option<bool> = conn.query_first("SELECT @@log_bin").await.unwrap();
    assert_eq!((rows, binlog), (Some(3), Some(true)));
    drop(conn);
    let id = ProcessId::of(running.pid()).unwrap();
    drop(running);
    assert!(!id.lives());

    let folders = [
        trial.path().to_owned(),
        trial.socket().parent().unwrap().to_owned(),
        run.path().to_owned(),
    ];
    drop((trial, run));
    assert!(folders.iter().all(|folder| !folder.exists()));
    assert_eq!(left_in(state.path()), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn a_server_that_cannot_start_says_why() {
    let (state, server) = (tempfile::tempdir().unwrap(), server());
    let small_pages = options(&[("innodb_page_size", "8192")]);
    let (_ledger, run) = new_data_directory(state.path(), &server, &small_pages).await;
    let mut fatal = vec![
        ("innodb_page_size", "4096", "page size"),
        ("innodb_no_such_thing", "1", "innodb_no_such_thing"),
    ];
    // MySQL takes such a pool bit by bit, until the machine has no memory left.
    if server.flavor.family == Family::MariaDb {
        fatal.push(("innodb_buffer_pool_size", "100T", "innodb_buffer_pool_size"));
    }
    for (name, value, words) in fatal {
        match Running::start(
            &server,
            &run,
            launch(&options(&[("innodb_page_size", "8192"), (name, value)])),
        )
        .await
        {
            Err(StartError::Died {
                last_error, log_tail, ..
            }) => {
                assert!(last_error.starts_with("[ERROR]"), "{last_error}");
                assert!(
                    log_tail.contains(&last_error) && log_tail.contains(words),
                    "{last_error}\n{log_tail}"
                );
            }
            other => panic!("{name}={value}: {other:?}"),
        }
    }
    let hurry = Launch {
        ready_within: Duration::from_millis(1),
        ..launch(&[])
    };
    assert!(matches!(
        Running::start(&server, &run, hurry).await,
        Err(StartError::Timeout { .. })
    ));
    // The data directory is still good, and a server that is killed from outside is noticed.
    let mut running = Running::start(&server, &run, launch(&small_pages)).await.unwrap();
    let killed = std::process::Command::new("/bin/kill")
        .args(["-9", &running.pid().to_string()])
        .status();
    assert!(killed.unwrap().success());
    let mut died = None;
    for _ in 0..500 {
        died = running.died();
        if died.is_some() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(died.unwrap().contains("signal 9"));
    drop((running, run));
    assert_eq!(left_in(state.path()), Vec::<PathBuf>::new());
}

#[test]
fn what_the_server_knows_of_its_options() {
    let server = server();
    let variables = server.variables().unwrap();
    assert_eq!(variables["innodb_buffer_pool_size"], "134217728");
    assert_eq!(variables["innodb_file_per_table"], "ON");
    assert!(variables.len() > 500);

    let folder = tempfile::tempdir().unwrap();
    let check = |text: &str| {
        let file = folder.path().join("my.cnf");
        fs::write(&file, text).unwrap();
        server.check_options(&file).unwrap()
    };
    assert_eq!(
        check("[mysqld]\ninnodb_buffer_pool_size = 11G\ninnodb_io_capacity = 400\n"),
        Vec::<String>::new()
    );
    for (line, words) in [
        (
            "innodb_no_such_thing = 1",
            "unknown variable 'innodb_no_such_thing=1'",
        ),
        ("innodb_io_capacity = 5", "adjusted to 100"),
        ("innodb_flush_method = WISHFUL", "WISHFUL"),
        ("innodb_buffer_pool_size = abc", "abc"),
        ("innodb_adaptive_hash_index = MAYBE", "MAYBE"),
        ("[mysqld", "group"),
    ] {
        let findings = check(&format!("[mysqld]\n{line}\n"));
        assert!(
            findings.iter().any(|finding| finding.contains(words)),
            "{line}: {findings:?}"
        );
    }
}
