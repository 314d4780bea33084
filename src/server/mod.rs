//! The sandbox: finds a server binary, asks it what it knows, makes and restores data directories, starts the server
//! on a private socket, and stops it. Whatever is started or made is written to the [`Ledger`] first, so that the next
//! start can clean up after a run that was killed.
//!
//! A trial goes: [`RunFolder::new`], then [`copy_tree`] from a snapshot into [`RunFolder::data`] (or
//! [`initialise`] it), then [`Running::start`].

mod ask;
mod copy;
mod error_log;
mod find;
mod initialise;
mod ledger;
mod option_text;
mod process;
mod run_folder;
mod running;
mod spawn;
mod status;

pub use ask::AskError;
pub use copy::{Copied, CopyError, Method, copy_tree, restore_tree};
pub use find::{FindError, Server};
pub use initialise::{InitialiseError, initialise};
pub use ledger::{Ledger, LedgerError, Recovered};
pub use option_text::{OptionError, option_text};
pub use process::ProcessId;
pub use run_folder::RunFolder;
pub use running::{Launch, Running, StartError, Stopped};
pub use status::status;

/// Whether the servers we start would run as root, which they refuse unless told to.
fn as_root() -> bool {
    rustix::process::geteuid().is_root()
}
