//! The project's chores: `cargo xtask test` runs every check there is.

mod args;
mod clients;
mod fuzz;
mod gallery;
mod plan;
mod project;
mod rivals;
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
        Ok(Request::Rivals) => rivals::compare(),
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
