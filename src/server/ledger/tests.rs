use super::*;
use crate::server::RunFolder;
use std::process::{Child, Command};

/// Number and start time of a process that has ended.
fn dead() -> ProcessId {
    let mut child = Command::new("/bin/sleep").arg("60").spawn().unwrap();
    let id = ProcessId::of(child.id() as i32).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    id
}

fn sleeper() -> (Child, ProcessId) {
    let child = Command::new("/bin/sleep").arg("60").spawn().unwrap();
    let id = ProcessId::of(child.id() as i32).unwrap();
    (child, id)
}

/// An entry as `owner` would have written it.
fn entry(ledger: &Ledger, owner: ProcessId, folders: &[PathBuf], servers: &[ProcessId]) -> PathBuf {
    let path = ledger.state().join(LEDGER).join(format!("{}-0", owner.pid));
    let mut file = File::create(&path).unwrap();
    let claim = Claim {
        version: VERSION,
        owner,
        boot: boot_id().unwrap(),
        folders: folders.to_vec(),
    };
    write_line(&mut file, &claim).unwrap();
    servers
        .iter()
        .for_each(|server| write_line(&mut file, server).unwrap());
    path
}

fn run_of(ledger: &Ledger, owner: ProcessId) -> PathBuf {
    let folder = ledger.state().join(RUNS).join(format!("{}-0", owner.pid));
    fs::create_dir_all(folder.join("data/mysql")).unwrap();
    folder
}

#[test]
fn what_a_dead_owner_left_goes() {
    let state = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(state.path()).unwrap();
    let (mut child, server) = sleeper();
    let owner = dead();
    let (run, sockets) = (run_of(&ledger, owner), socket_folder(&format!("{}-0", owner.pid)));
    fs::create_dir(&sockets).unwrap();
    let path = entry(&ledger, owner, &[run.clone(), sockets.clone()], &[server]);
    let recovered = ledger.recover().unwrap();
    assert_eq!(recovered.killed, [server.pid]);
    assert_eq!(recovered.removed, [run.clone(), sockets.clone()]);
    assert!(recovered.left.is_empty());
    assert!(!server.lives() && !run.exists() && !sockets.exists() && !path.exists());
    child.wait().unwrap();
    assert_eq!(ledger.recover().unwrap(), Recovered::default());
}

#[test]
fn another_process_with_the_same_number_lives_on() {
    let state = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(state.path()).unwrap();
    let (mut child, server) = sleeper();
    let owner = dead();
    entry(
        &ledger,
        owner,
        &[],
        &[ProcessId {
            start: server.start + 1,
            ..server
        }],
    );
    assert_eq!(ledger.recover().unwrap(), Recovered::default());
    assert!(server.lives());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn what_belongs_to_the_living_stays() {
    let state = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(state.path()).unwrap();
    // By its lock: this test's own run folder. By number and start time: an entry that nobody holds a lock on.
    let run = RunFolder::new(&ledger).unwrap();
    let (mut child, owner) = sleeper();
    let (mut second, server) = sleeper();
    let folder = run_of(&ledger, owner);
    let path = entry(&ledger, owner, std::slice::from_ref(&folder), &[server]);
    assert_eq!(ledger.recover().unwrap(), Recovered::default());
    assert!(run.path().exists() && folder.exists() && path.exists() && server.lives());
    for child in [&mut child, &mut second] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn foreign_folders_are_never_removed() {
    let state = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(state.path()).unwrap();
    let foreign = tempfile::tempdir().unwrap();
    let link = ledger.state().join(RUNS).join("link");
    std::os::unix::fs::symlink(foreign.path(), &link).unwrap();
    let through_link = link.join("inner");
    fs::create_dir(&through_link).unwrap();
    let dots = ledger
        .state()
        .join(RUNS)
        .join("../../")
        .join(foreign.path().file_name().unwrap());
    let runs = ledger.state().join(RUNS);
    let state_itself = ledger.state().to_owned();
    for folder in [
        foreign.path().to_owned(),
        link,
        through_link,
        dots,
        runs,
        state_itself,
    ] {
        let owner = dead();
        let path = entry(&ledger, owner, std::slice::from_ref(&folder), &[]);
        let recovered = ledger.recover().unwrap();
        assert_eq!(
            (recovered.removed.len(), recovered.left.len()),
            (0, 1),
            "{}",
            folder.display()
        );
        assert!(folder.exists());
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_half_written_entry_is_dropped() {
    let state = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(state.path()).unwrap();
    let path = ledger.state().join(LEDGER).join(format!("{}-0", dead().pid));
    fs::write(&path, "{\"version\":1,\"own").unwrap();
    assert_eq!(ledger.recover().unwrap(), Recovered::default());
    assert!(!path.exists());
}

#[test]
fn a_run_folder_is_private_and_leaves_nothing() {
    let state = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(state.path()).unwrap();
    let run = RunFolder::new(&ledger).unwrap();
    let (path, socket) = (run.path().to_owned(), run.socket());
    assert!(socket.as_os_str().len() <= 107);
    for folder in [path.as_path(), socket.parent().unwrap()] {
        assert_eq!(folder.metadata().unwrap().mode() & 0o777, 0o700);
    }
    let second = run.clone();
    drop(run);
    assert!(path.exists());
    drop(second);
    assert!(!path.exists() && !socket.parent().unwrap().exists());
    assert_eq!(fs::read_dir(ledger.state().join(LEDGER)).unwrap().count(), 0);
}

#[test]
fn a_state_folder_that_is_a_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state");
    fs::write(&file, "").unwrap();
    assert!(Ledger::open(&file).unwrap_err().to_string().contains("state"));
}
