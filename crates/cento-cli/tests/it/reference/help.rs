//! The help of a verb, taken apart.

/// An option or an argument.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    /// The option's names and value, such as `-n, --limit <N>`.
    pub name: String,
    /// The description, with default and variable.
    pub text: String,
    /// The possible values with meanings, if the help lists values.
    pub values: Vec<(String, String)>,
}

/// The parsed help of a verb.
pub struct Verb {
    pub name: String,
    /// Paragraphs, each followed by an empty line.
    pub about: String,
    pub usage: String,
    pub arguments: Vec<Entry>,
    /// The verbs below this verb, each with a purpose.
    pub commands: Vec<Entry>,
    /// Options with their headings.
    pub options: Vec<(String, Entry)>,
    pub examples: Vec<String>,
}

impl Entry {
    /// The long name of the option.
    pub fn long(&self) -> &str {
        let mut names = self.name.split([',', ' ', '=']);
        names.rfind(|name| name.starts_with("--")).unwrap_or(&self.name)
    }
}

fn paragraphs(lines: &[&str]) -> String {
    let paragraphs = lines.split(|line| line.trim().is_empty()).filter(|lines| !lines.is_empty());
    let joined = paragraphs.map(|lines| {
        let words: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
        format!("{}\n\n", escaped(&words.join(" ")))
    });
    joined.collect()
}

/// A text of the help as Markdown: no character outside of backticks is markup.
pub fn escaped(text: &str) -> String {
    let mut result = String::new();
    for (number, part) in text.split('`').enumerate() {
        if number > 0 {
            result.push('`');
        }
        if number % 2 == 1 {
            result.push_str(part);
        } else {
            result.push_str(&part.replace('<', "\\<").replace('*', "\\*"));
        }
    }
    result
}

/// Parses an entry: a line with names, and the lines below.
fn entry(lines: &[&str]) -> Entry {
    let mut entry =
        Entry { name: lines[0].trim().to_owned(), text: String::new(), values: Vec::new() };
    let (mut facts, mut is_list) = (String::new(), false);
    for line in lines[1..].iter().map(|line| line.trim()) {
        let fact = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
        if let Some((kind, value)) = fact.and_then(|fact| fact.split_once(": ")) {
            match kind {
                "default" => facts += &format!(" Default: `{value}`."),
                "env" => facts += &format!(" Variable: `{}`.", value.trim_end_matches('=')),
                "possible values" => {
                    facts += &format!(" Values: `{}`.", value.replace(", ", "`, `"))
                }
                _ => panic!("[{kind}: ...] in the help of {}", entry.name),
            }
        } else if line == "Possible values:" {
            is_list = true;
        } else if let Some((value, meaning)) =
            line.strip_prefix("- ").filter(|_| is_list).and_then(|line| line.split_once(':'))
        {
            entry.values.push((value.to_owned(), meaning.trim().to_owned()));
        } else if let Some((_, meaning)) = entry.values.last_mut().filter(|_| !line.is_empty()) {
            *meaning += " ";
            *meaning += line;
        } else if let Some(value) = line.strip_prefix("- ").filter(|_| is_list) {
            entry.values.push((value.to_owned(), String::new()));
        } else if !line.is_empty() {
            if !entry.text.is_empty() {
                entry.text.push(' ');
            }
            entry.text += line;
        }
    }
    if !facts.is_empty() {
        if !entry.text.ends_with(['.', '!', '?']) {
            entry.text.push('.');
        }
        entry.text += &facts;
    }
    entry
}

/// The entries of a section: a line with names is indented less than its description.
fn entries(lines: &[&str]) -> Vec<Entry> {
    let is_name = |line: &str| {
        let indent = line.len() - line.trim_start().len();
        (2..8).contains(&indent)
    };
    let starts: Vec<usize> = (0..lines.len()).filter(|&at| is_name(lines[at])).collect();
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    starts.iter().zip(ends).map(|(&start, end)| entry(&lines[start..end])).collect()
}

/// The verbs of a section: lines after the first of a purpose are indented more.
fn commands(lines: &[&str]) -> Vec<Entry> {
    let mut found: Vec<Entry> = Vec::new();
    for line in lines.iter().filter_map(|line| line.strip_prefix("  ")) {
        match (line.split_once("  "), found.last_mut()) {
            (Some((name, text)), _) if !name.is_empty() => {
                let (name, text) = (name.to_owned(), text.trim().to_owned());
                found.push(Entry { name, text, values: Vec::new() });
            }
            (_, Some(last)) => last.text += &format!(" {}", line.trim()),
            (_, None) => {}
        }
    }
    found
}

impl Verb {
    /// Takes the help of a verb apart.
    pub fn parse(name: &str, help: &str) -> Verb {
        let lines: Vec<&str> = help.lines().collect();
        let at = lines.iter().position(|line| line.starts_with("Usage: ")).expect("a usage");
        let usage = lines[at].trim_start_matches("Usage: ").to_owned();
        let about = paragraphs(&lines[..at]).trim_end().to_owned() + "\n";
        let mut verb = Verb {
            name: name.to_owned(),
            about,
            usage,
            arguments: Vec::new(),
            commands: Vec::new(),
            options: Vec::new(),
            examples: Vec::new(),
        };
        let is_heading = |line: &str| line.ends_with(':') && !line.starts_with(' ');
        let starts: Vec<usize> = (at..lines.len()).filter(|&at| is_heading(lines[at])).collect();
        let ends = starts.iter().skip(1).copied().chain([lines.len()]);
        for (&start, end) in starts.iter().zip(ends) {
            let section = &lines[start + 1..end];
            match lines[start].trim_end_matches(':') {
                "Arguments" => verb.arguments.extend(entries(section)),
                "Commands" => verb.commands.extend(commands(section)),
                "Examples" => {
                    let lines = section.iter().filter(|line| !line.is_empty());
                    verb.examples.extend(
                        lines.map(|line| line.strip_prefix("  ").unwrap_or(line).to_string()),
                    );
                }
                heading => {
                    let entries = entries(section).into_iter();
                    let others = entries.filter(|entry| entry.long() != "--help");
                    verb.options.extend(others.map(|entry| (heading.to_owned(), entry)));
                }
            }
        }
        verb
    }
}

#[test]
fn a_help_is_taken_apart() {
    let help = "\
About it,
in two lines.

Usage: cento x [OPTIONS] <A>

Arguments:
  <A>
          The first

Options:
      --goal <GOAL>
          A goal, such as '*'

          Possible values:
          - hits:  The best
            of all
          - cover: Few
          
          [default: hits]

  -h, --help
          Print help

Output:
  -n, --limit <N>
          Number

Examples:
  cento x a
      an example
";
    let verb = Verb::parse("x", help);
    assert_eq!(
        (&*verb.about, &*verb.usage),
        ("About it, in two lines.\n", "cento x [OPTIONS] <A>")
    );
    assert_eq!(verb.arguments[0].text, "The first");
    let [(group, goal), (output, limit)] = &verb.options[..] else { panic!("{:?}", verb.options) };
    assert_eq!(
        (&**group, goal.long(), &*goal.text),
        ("Options", "--goal", "A goal, such as '*'. Default: `hits`.")
    );
    assert_eq!(goal.values[0], ("hits".to_owned(), "The best of all".to_owned()));
    assert_eq!(goal.values[1], ("cover".to_owned(), "Few".to_owned()));
    assert_eq!((&**output, limit.long()), ("Output", "--limit"));
    assert_eq!(verb.examples, ["cento x a", "    an example"]);
    assert_eq!(escaped("a <b> `c <d>` *"), "a \\<b> `c <d>` \\*");
}
