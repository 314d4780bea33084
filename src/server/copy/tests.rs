use super::*;
use std::{
    io::{Seek as _, SeekFrom, Write as _},
    os::unix::net::UnixListener,
};

/// Bytes that differ from block to block.
fn noise(len: usize, seed: u8) -> Vec<u8> {
    (0..len).map(|i| (i / 7 + i / 4096) as u8 ^ seed).collect()
}

fn make_tree(root: &Path) {
    fs::create_dir_all(root.join("db/deep")).unwrap();
    fs::write(root.join("empty"), "").unwrap();
    fs::write(root.join("small"), noise(1000, 1)).unwrap();
    fs::write(root.join("db/one_block"), noise(4096, 2)).unwrap();
    fs::write(root.join("db/deep/several_pieces"), noise((9 << 20) + 123, 3)).unwrap();
    let mut sparse = File::create(root.join("db/sparse")).unwrap();
    sparse.write_all(&noise(5000, 4)).unwrap();
    sparse.seek(SeekFrom::Start(64 << 20)).unwrap();
    sparse.write_all(&noise(5000, 5)).unwrap();
    sparse.set_len(200 << 20).unwrap();
    fs::set_permissions(root.join("small"), fs::Permissions::from_mode(0o640)).unwrap();
    fs::set_permissions(root.join("db"), fs::Permissions::from_mode(0o750)).unwrap();
}

fn assert_same(one: &Path, two: &Path) {
    let list = |root: &Path| {
        let mut names: Vec<_> = fs::read_dir(root)
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        names.sort();
        names
    };
    assert_eq!(list(one), list(two));
    for name in list(one) {
        let (one, two) = (one.join(&name), two.join(&name));
        let (a, b) = (one.metadata().unwrap(), two.metadata().unwrap());
        assert_eq!(a.mode(), b.mode(), "{}", one.display());
        if a.is_dir() {
            assert_same(&one, &two);
        } else {
            assert_eq!(a.len(), b.len());
            assert!(
                fs::read(&one).unwrap() == fs::read(&two).unwrap(),
                "{} differs",
                one.display()
            );
        }
    }
}

/// A folder beside the build, on a real disk rather than in memory, where direct I/O can be refused.
fn on_disk() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap()
}

#[test]
fn a_copy_is_the_same_tree() {
    let folder = on_disk();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    make_tree(&from);
    let copied = copy_tree(&from, &to).unwrap();
    assert_same(&from, &to);
    assert_eq!(copied.files, 5);
    assert!(copied.bytes > 9 << 20 && copied.bytes < 20 << 20, "{copied:?}");
    let blocks = |root: &Path| root.join("db/sparse").metadata().unwrap().blocks();
    assert!(blocks(&to) <= blocks(&from) + 64, "the holes were filled");
}

#[test]
fn each_way_of_copying_gives_the_same_tree() {
    let folder = on_disk();
    let from = folder.path().join("from");
    make_tree(&from);
    for direct in [true, false] {
        let to = folder.path().join(format!("to-{direct}"));
        fs::create_dir(&to).unwrap();
        let (mut jobs, mut folders) = (Vec::new(), Vec::new());
        walk(&from, &to, &mut jobs, &mut folders).unwrap();
        jobs.iter().for_each(|job| prepare(job).unwrap());
        pieces::copy(&jobs, direct).unwrap();
        jobs.iter().for_each(|job| set_mode(&job.to, job.mode).unwrap());
        folders
            .iter()
            .for_each(|(folder, mode)| set_mode(folder, *mode).unwrap());
        assert_same(&from, &to);
    }
}

#[test]
fn memory_file_systems_work_too() {
    let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
        return;
    };
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    make_tree(&from);
    copy_tree(&from, &to).unwrap();
    assert_same(&from, &to);
}

#[test]
fn what_cannot_be_copied_leaves_nothing() {
    let folder = on_disk();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    make_tree(&from);
    std::os::unix::fs::symlink("/etc/passwd", from.join("link")).unwrap();
    assert!(matches!(copy_tree(&from, &to), Err(CopyError::NotAFile(path)) if path == from.join("link")));
    assert!(!to.exists());
    fs::create_dir(&to).unwrap();
    fs::write(to.join("mine"), "").unwrap();
    assert!(matches!(copy_tree(&from, &to), Err(CopyError::File { .. })));
    assert!(to.join("mine").exists());
}

#[test]
fn sockets_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    fs::create_dir(&from).unwrap();
    let _listener = UnixListener::bind(from.join("s")).unwrap();
    assert_eq!(copy_tree(&from, &to).unwrap().files, 0);
    assert!(to.exists() && !to.join("s").exists());
}

#[test]
fn says_how_much_room_was_needed() {
    let error = CopyError::NoRoom {
        from: "a".into(),
        to: "b".into(),
        needed: 3 << 30,
        free: 1 << 30,
    };
    assert_eq!(
        error.to_string(),
        "not enough room to copy a to b: 3 GiB needed, 1 GiB free"
    );
}

#[test]
fn a_restore_overwrites_what_was_used_and_leaves_no_trace_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    make_tree(&from);
    fs::write(from.join("db/large"), noise((20 << 20) + 77, 6)).unwrap();
    fs::write(from.join("db/grown"), noise(17 << 20, 7)).unwrap();
    restore_tree(&from, &to).unwrap();
    assert_same(&from, &to);
    // As a server would have used it: changed, grown, shrunk, removed, added, holes filled.
    let large = OpenOptions::new().write(true).open(to.join("db/large")).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&large, &noise(8192, 9), 5 << 20).unwrap();
    let mut grown = OpenOptions::new().append(true).open(to.join("db/grown")).unwrap();
    grown.write_all(&noise(3 << 20, 8)).unwrap();
    fs::write(to.join("db/sparse"), noise(30 << 20, 1)).unwrap();
    fs::write(to.join("db/deep/several_pieces"), "short").unwrap();
    fs::remove_file(to.join("small")).unwrap();
    fs::create_dir(to.join("added")).unwrap();
    fs::write(to.join("added/file"), "x").unwrap();
    restore_tree(&from, &to).unwrap();
    assert_same(&from, &to);
}
