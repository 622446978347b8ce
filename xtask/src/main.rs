//! The project's tasks: `cargo xtask test` runs every check.

mod args;
mod clients;
mod film;
mod fuzz;
mod gallery;
mod peers;
mod plan;
mod project;
mod tool;

use args::Request;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match args::read(&words) {
        Ok(Request::Help) => {
            println!("{}", args::HELP);
            Ok(())
        }
        Ok(Request::Test(scope)) => plan::test(scope),
        Ok(Request::Clients(long)) => clients::check(long),
        Ok(Request::Fuzz(target)) => plan::fuzz(target),
        Ok(Request::Peers) => peers::compare(),
        Ok(Request::Gallery) => gallery::make(),
        Err(error) => Err(error),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
