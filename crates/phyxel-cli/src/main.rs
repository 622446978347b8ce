//! The `phyxel` program: maps arguments to library calls, and results to output and exit codes.

mod args;
mod commands;
mod failure;
mod interrupt;
mod output;
mod progress;
mod run_folder;
mod summary;

use args::{Args, Command};
use clap::Parser;
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let json = std::env::args_os().any(|argument| argument == "--json");
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) if json && error.use_stderr() => return Failure::usage(&error).report(true),
        Err(error) => error.exit(),
    };
    let code = match args.command.unwrap_or(Command::Demo(args.demo)) {
        Command::Demo(options) => commands::run::demo(&options),
        Command::Run { scene, options } => commands::run::run(&scene, &options),
        Command::Render { run, options } => commands::replay::render(&run, &options),
        Command::Export { run, formats, options } => commands::replay::export(&run, &formats, &options),
        Command::Plot { run, folder, json } => commands::plot::plot(&run, folder.as_deref(), json),
        Command::Check { scene, options } => commands::check::check(&scene, &options),
        Command::Bench { name, json } => commands::bench::bench(name.as_deref(), json),
        Command::Scenes { name, json } => commands::scenes::show(name.as_deref(), json),
    };
    code.unwrap_or_else(|failure| failure.report(json))
}
