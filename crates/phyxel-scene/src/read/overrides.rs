//! Overrides of values of a file: `--set bodies.goop.spacing=0.05`.

use super::wording::{did_you_mean, list};
use crate::document::{Entry, Node, Table, Value, parse_value};
use crate::error::Problem;

/// Sets the value at a path. The last key may be new (the reader rejects unknown ones), its parents must exist.
pub(super) fn apply(table: &mut Table, path: &str, value: &str) -> Result<(), Problem> {
    let problem = |message: String| Problem { line: None, path: format!("--set {path}"), message };
    let keys: Vec<&str> = path.trim().split('.').collect();
    if keys.iter().any(|key| key.is_empty()) {
        return Err(problem("is not a path; write names with dots between, such as bodies.goop.spacing".into()));
    }
    let (last, parents) = keys.split_last().map(|(last, parents)| (*last, parents)).unwrap_or(("", &[]));
    let mut container = Container::Table(table);
    for (depth, key) in parents.iter().enumerate() {
        let so_far = keys[..depth].join(".");
        container = container.descend(key).and_then(Container::of).map_err(|why| problem(why.message(key, &so_far)))?;
    }
    let so_far = parents.join(".");
    container.insert(last, parse_value(value)).map_err(|why| problem(why.message(last, &so_far)))
}

/// Table or list in the document.
enum Container<'a> {
    Table(&'a mut Table),
    List(&'a mut Vec<Node>),
}

/// Reason why a path leads nowhere.
enum PathError {
    /// Unknown key; the known ones.
    Unknown(Vec<String>),
    /// A value that is no container.
    NotContainer(String),
}

impl PathError {
    fn message(&self, key: &str, so_far: &str) -> String {
        let parent = if so_far.is_empty() { "the scene".to_string() } else { format!("\"{so_far}\"") };
        match self {
            Self::Unknown(known) => {
                let known = || known.iter().map(String::as_str);
                let hint = did_you_mean(key, known());
                format!("there is no \"{key}\" in {parent}{hint} (there are: {})", list(known()))
            }
            Self::NotContainer(what) => format!("\"{key}\" in {parent} is {what}, and nothing is below it"),
        }
    }
}

impl<'a> Container<'a> {
    fn of(node: &'a mut Node) -> Result<Self, PathError> {
        let what = node.describe();
        match &mut node.value {
            Value::Table(table) => Ok(Self::Table(table)),
            Value::List(list) => Ok(Self::List(list)),
            _ => Err(PathError::NotContainer(what)),
        }
    }

    fn descend(self, key: &str) -> Result<&'a mut Node, PathError> {
        match self {
            Self::Table(table) => {
                let known: Vec<String> = table.keys().map(str::to_string).collect();
                table.get_mut(key).ok_or(PathError::Unknown(known))
            }
            Self::List(list) => match position(list, key) {
                Some(index) => Ok(&mut list[index]),
                None => Err(PathError::Unknown(labels(list))),
            },
        }
    }

    fn insert(self, key: &str, node: Node) -> Result<(), PathError> {
        match self {
            Self::Table(table) => {
                table.entries.retain(|entry| entry.key != key);
                table.entries.push(Entry { key: key.to_string(), line: None, node });
                Ok(())
            }
            list @ Self::List(_) => list.descend(key).map(|old| *old = node),
        }
    }
}

/// Index of the item with a name or, failing that, a number.
fn position(list: &[Node], key: &str) -> Option<usize> {
    let named = |item: &Node| item.child_text("name") == Some(key);
    let numbered = || key.parse().ok().filter(|index: &usize| *index < list.len());
    list.iter().position(named).or_else(numbered)
}

/// Names or numbers of the items of a list.
fn labels(list: &[Node]) -> Vec<String> {
    let label = |(index, item): (usize, &Node)| match item.child_text("name") {
        Some(name) => name.to_string(),
        None => index.to_string(),
    };
    list.iter().enumerate().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "gravity = [0, -9, 0]\n[materials.goop]\ndensity = 1\n[[bodies]]\nname = 'goop'\n\
                        shape = { kind = 'box', size = [1, 2, 3] }\n";

    fn applied(path: &str, value: &str) -> Result<Table, String> {
        let mut table = crate::document::parse(FILE).unwrap();
        apply(&mut table, path, value).map(|()| table).map_err(|it| format!("{}: {}", it.path, it.message))
    }

    fn found(table: &Table, path: &str) -> Value {
        let mut keys = path.split('.');
        let mut node = &table.get(keys.next().unwrap()).unwrap().node;
        for key in keys {
            node = match &node.value {
                Value::Table(table) => &table.get(key).unwrap().node,
                Value::List(list) => &list[position(list, key).unwrap()],
                _ => panic!("{path} leads nowhere"),
            };
        }
        node.value.clone()
    }

    #[test]
    fn values_are_replaced_by_name_by_number_and_in_lists() {
        for (path, value, expected) in [
            ("materials.goop.density", "2.5", Value::Float(2.5)),
            ("bodies.goop.spacing", "0.25", Value::Float(0.25)),
            ("bodies.0.shape.kind", "sphere", Value::Text("sphere".into())),
            ("bodies.goop.shape.size.1", "7", Value::Integer(7)),
            ("gravity.1", "0", Value::Integer(0)),
            ("seed", "3", Value::Integer(3)),
        ] {
            assert_eq!(found(&applied(path, value).unwrap(), path), expected, "{path}");
        }
    }

    #[test]
    fn a_path_that_leads_nowhere_names_the_nearest() {
        assert_eq!(
            applied("bodies.gop.spacing", "1").unwrap_err(),
            "--set bodies.gop.spacing: there is no \"gop\" in \"bodies\"; did you mean \"goop\"? (there are: goop)"
        );
        assert_eq!(
            applied("body.goop.spacing", "1").unwrap_err(),
            "--set body.goop.spacing: there is no \"body\" in the scene; did you mean \"bodies\"? \
             (there are: gravity, materials, bodies)"
        );
        assert_eq!(
            applied("gravity.7", "1").unwrap_err(),
            "--set gravity.7: there is no \"7\" in \"gravity\" (there are: 0, 1, 2)"
        );
        assert_eq!(
            applied("materials.goop.density.x", "1").unwrap_err(),
            "--set materials.goop.density.x: \"density\" in \"materials.goop\" is the number 1, and nothing is below it"
        );
        assert!(applied("", "1").unwrap_err().contains("is not a path"));
    }
}
