//! The language of the code: the field's words as names, one type for each name, and sizes that can be read.

mod support;

use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use support::{root, texts};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Words that once stood in the place of a term, with the term. They are banned as parts of identifiers and of file
/// names.
const BANNED: [(&str, &str); 63] = [
    ("guide", "preconditioner"),
    ("guides", "preconditioner"),
    ("rounds", "iterations"),
    ("rub", "viscosity"),
    ("rubs", "viscosity"),
    ("rubbed", "viscosity"),
    ("swing", "frequency"),
    ("swings", "frequencies"),
    ("swiftness", "max_eigenvalue"),
    ("braking", "damping_rate"),
    ("pace", "the name of the parameters"),
    ("paces", "the name of the parameters"),
    ("stuff", "workspace, view or context"),
    ("court", "sums"),
    ("verdict", "transition or class"),
    ("crumb", "fragment"),
    ("crumbs", "fragments"),
    ("seeing", "coarse cache"),
    ("mould", "template"),
    ("deed", "action"),
    ("wearer", "context"),
    ("warmth", "temperature or thermal state"),
    ("shore", "obstacle heat link"),
    ("shores", "obstacle heat links"),
    ("presses", "contacts"),
    ("grip", "friction state"),
    ("couples", "tie projection"),
    ("bumper", "pair_stiffness"),
    ("swirl", "vorticity"),
    ("loosen", "invert"),
    ("brace", "moments"),
    ("limp", "molten stiffness"),
    ("mote", "packed particle"),
    ("tangle", "invalid mesh"),
    ("mates", "opposite faces"),
    ("bared", "exposed"),
    ("crowd", "neighbour lists"),
    ("judge", "checker"),
    ("spent", "time used"),
    ("glint", "specular"),
    ("bent", "refracted"),
    ("haze", "fog"),
    ("how_far", "line_search"),
    ("tell", "report"),
    ("tells", "reports"),
    ("anew", "rebuilt"),
    ("ease", "inverse inertia"),
    ("parting", "split"),
    ("untying", "tie failure"),
    ("fullness", "volume fraction"),
    ("bluntness", "softening length"),
    ("unevenness", "stabilisation"),
    ("seats", "site assignment"),
    ("newborn", "inserted"),
    ("born", "next_id"),
    ("pushes", "impulses"),
    ("press", "contact or pressure"),
    ("shares", "fractions"),
    ("fading", "fade_time"),
    ("weave", "schedule"),
    ("lean", "first moment"),
    ("chore", "task"),
    ("chores", "tasks"),
];

/// Most lines of a function.
const LONGEST_FUNCTION: usize = 60;

/// Most lines of a file.
const LONGEST_FILE: usize = 600;

/// Most characters of a line.
const LONGEST_LINE: usize = 120;

/// A path as it is shown: from the root of the workspace.
fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// All Rust files with their text.
fn sources() -> Vec<(PathBuf, String)> {
    texts(&["rs"])
}

/// Splits `snake_case`, `CamelCase` and `SCREAMING_CASE` into lower-case words.
fn words(identifier: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before_is_lower = false;
    for letter in identifier.chars() {
        let starts = letter.is_uppercase() && before_is_lower;
        if starts || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if letter.is_alphanumeric() {
            words.last_mut().expect("one word at least").extend(letter.to_lowercase());
        }
        before_is_lower = letter.is_lowercase() || letter.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The banned word in an identifier, with the term to use. A banned word with an underscore is a run of words.
fn banned_in(identifier: &str) -> Option<(&'static str, &'static str)> {
    let joined = format!("_{}_", words(identifier).join("_"));
    BANNED.into_iter().find(|(word, _)| joined.contains(&format!("_{word}_")))
}

/// Calls `look` with every identifier and its line.
fn identifiers(tokens: TokenStream, look: &mut impl FnMut(&str, usize)) {
    for token in tokens {
        match token {
            TokenTree::Ident(identifier) => {
                let line = identifier.span().start().line;
                look(identifier.to_string().trim_start_matches("r#"), line);
            }
            TokenTree::Group(group) => identifiers(group.stream(), look),
            TokenTree::Punct(_) | TokenTree::Literal(_) => (),
        }
    }
}

#[test]
fn banned_words_are_found_as_whole_words_of_identifiers() {
    let banned = ["PressDepth", "how_far_along", "MAX_ROUNDS", "r#guide"].map(|name| banned_in(name).is_some());
    assert_eq!(banned, [true; 4]);
    let fine = ["pressure", "how_many", "rounded", "easement"].map(|name| banned_in(name).is_some());
    assert_eq!(fine, [false; 4]);
}

#[test]
fn identifiers_split_into_words() {
    assert_eq!(words("ContactConstraint"), ["contact", "constraint"]);
    assert_eq!(words("MAX_NEWTON"), ["max", "newton"]);
    assert_eq!(words("apply_to_f32x8"), ["apply", "to", "f32x8"]);
}

#[test]
fn names_are_the_fields_words() {
    let mut found = Vec::new();
    for (path, text) in sources() {
        let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("{}: {error}", shown(&path)));
        identifiers(tokens, &mut |identifier, line| {
            if let Some((word, term)) = banned_in(identifier) {
                found.push(format!("{}:{line}: `{identifier}` has \"{word}\"; use {term}", shown(&path)));
            }
        });
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        if let Some((word, term)) = banned_in(&stem) {
            found.push(format!("{}: the file's name has \"{word}\"; use {term}", shown(&path)));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Types and functions of a file.
#[derive(Default)]
struct Items {
    /// Names of structs, enums, unions, traits and aliases outside of tests, with their lines.
    types: Vec<(String, usize)>,
    /// Names of functions with their first line and their number of lines.
    functions: Vec<(String, usize, usize)>,
    inside_tests: bool,
}

impl Items {
    fn add_type(&mut self, name: &syn::Ident) {
        if !self.inside_tests {
            self.types.push((name.to_string(), name.span().start().line));
        }
    }

    fn add_function(&mut self, name: &syn::Ident, block: &syn::Block) {
        let (first, last) = (name.span().start().line, block.span().end().line);
        self.functions.push((name.to_string(), first, last + 1 - first));
    }
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    let is_test = |attribute: &syn::Attribute| {
        attribute.path().is_ident("cfg") && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    };
    attributes.iter().any(is_test)
}

impl<'ast> Visit<'ast> for Items {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let outside = self.inside_tests;
        self.inside_tests |= is_for_tests(&item.attrs);
        visit::visit_item_mod(self, item);
        self.inside_tests = outside;
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.add_type(&item.ident);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.add_type(&item.ident);
        visit::visit_item_enum(self, item);
    }

    fn visit_item_union(&mut self, item: &'ast syn::ItemUnion) {
        self.add_type(&item.ident);
        visit::visit_item_union(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.add_type(&item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.add_type(&item.ident);
        visit::visit_item_type(self, item);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.add_function(&item.sig.ident, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.add_function(&item.sig.ident, &item.block);
        visit::visit_impl_item_fn(self, item);
    }
}

fn items(path: &Path, text: &str) -> Items {
    let file = syn::parse_file(text).unwrap_or_else(|error| panic!("{}: {error}", shown(path)));
    let mut items = Items::default();
    items.visit_file(&file);
    items
}

/// The crate of a file of product code; `None` for tests.
fn product_crate(path: &Path) -> Option<String> {
    let shown = shown(path);
    let mut folders = shown.split('/');
    let member = match folders.next()? {
        "crates" => folders.next()?.to_string(),
        "xtask" => "xtask".to_string(),
        _ => return None,
    };
    let is_product = folders.next() == Some("src");
    let is_test = folders.any(|folder| folder == "tests" || folder.ends_with("tests.rs"));
    (is_product && !is_test).then_some(member)
}

#[test]
fn no_two_types_of_a_crate_have_one_name() {
    let mut places: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for (path, text) in sources() {
        let Some(member) = product_crate(&path) else { continue };
        for (name, line) in items(&path, &text).types {
            places.entry((member.clone(), name)).or_default().push(format!("{}:{line}", shown(&path)));
        }
    }
    let twice = places.into_iter().filter(|(_, places)| places.len() > 1);
    let found: Vec<String> = twice.map(|((_, name), places)| format!("{name}: {}", places.join(", "))).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn functions_and_files_are_short() {
    let mut found = Vec::new();
    for (path, text) in sources() {
        let lines = text.lines().count();
        if lines > LONGEST_FILE {
            found.push(format!("{}: {lines} lines, more than {LONGEST_FILE}", shown(&path)));
        }
        for (name, first, lines) in items(&path, &text).functions {
            if lines > LONGEST_FUNCTION {
                let place = format!("{}:{first}", shown(&path));
                found.push(format!("{place}: `{name}` has {lines} lines, more than {LONGEST_FUNCTION}"));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn lines_of_code_fit_a_screen() {
    let mut found = Vec::new();
    for (path, text) in sources() {
        let long = (1..).zip(text.lines()).filter(|(_, line)| line.chars().count() > LONGEST_LINE);
        found.extend(long.map(|(number, _)| format!("{}:{number}: more than {LONGEST_LINE} characters", shown(&path))));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
