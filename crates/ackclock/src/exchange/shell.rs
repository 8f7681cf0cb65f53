//! The commands of the shell in a script. No command is ever run.

use std::fmt;

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// A setting of the kernel, such as `net.ipv4.tcp_sack`.
    Sysctl {
        /// Its name, with dots.
        name: String,
        /// Its value.
        value: String,
    },
    /// Text for a file outside of `/proc/sys`.
    File {
        /// The file.
        path: String,
        /// The text.
        value: String,
    },
    /// The `defaults.sh` of packetdrill and of Linux.
    Defaults,
    /// The end of a script restores the settings of its beginning.
    Restore,
    /// `ip route`, with its other words.
    Route(Vec<String>),
    /// The queue discipline of the device is replaced.
    Qdisc {
        /// Its kind.
        kind: String,
        /// Its parameters.
        options: Vec<String>,
    },
    /// Any other command.
    Other(String),
}

/// The commands of a text of the shell.
pub fn commands(text: &str) -> Vec<Command> {
    let mut found = Vec::new();
    for words in words_of(text) {
        let parts: Vec<&str> = words.iter().map(String::as_str).collect();
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        match *parts.as_slice() {
            ["sysctl", ..] => {
                let settings = parts[1..].join("\0").replace("\0=\0", "=");
                let settings = settings.split('\0').filter(|word| !word.starts_with('-'));
                found.extend(settings.map(|word| {
                    let (name, value) = word.split_once('=').unwrap_or((word, ""));
                    Command::Sysctl { name: name.replace('/', "."), value: value.to_owned() }
                }));
            }
            ["echo", value, ">", path] => found.push(file(path, value)),
            [script, ..] if script.ends_with("set_sysctls.py") => {
                let settings = parts[1..].iter().filter_map(|word| word.split_once('='));
                found.extend(settings.map(|(path, value)| file(path, value)));
            }
            [script] if script.rsplit('/').next() == Some("defaults.sh") => found.push(Command::Defaults),
            [script] if script.starts_with("/tmp/sysctl_restore_") => found.push(Command::Restore),
            ["ip", "route" | "ro" | "r", ..] => found.push(Command::Route(owned(&parts[2..]))),
            ["tc", "qdisc", "replace" | "add", "dev", _, "root", kind, ..] => {
                found.push(Command::Qdisc { kind: kind.to_owned(), options: owned(&parts[7..]) });
            }
            _ => found.push(Command::Other(parts.join(" "))),
        }
    }
    found
}

/// A file that stands for a setting.
fn file(path: &str, value: &str) -> Command {
    match path.strip_prefix("/proc/sys/") {
        Some(name) => Command::Sysctl { name: name.replace('/', "."), value: value.to_owned() },
        None => Command::File { path: path.to_owned(), value: value.to_owned() },
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Command::Sysctl { name, value } => write!(f, "sysctl {name}={value}"),
            Command::File { path, value } => write!(f, "echo {value} > {path}"),
            Command::Defaults => f.write_str("defaults.sh"),
            Command::Restore => f.write_str("sysctl_restore"),
            Command::Route(words) => write!(f, "ip route {}", words.join(" ")),
            Command::Qdisc { kind, options } => write!(f, "tc qdisc {kind} {}", options.join(" ")),
            Command::Other(text) => f.write_str(text),
        }
    }
}

/// The words of each command of a shell text, without comments. A quoted text is one word.
fn words_of(text: &str) -> Vec<Vec<String>> {
    let mut found = vec![Vec::new()];
    let mut word: Option<String> = None;
    let (mut quote, mut is_comment) = (None, false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied();
        let ends = quote.is_none() && matches!(letter, '\n' | ';') || letter == '&' && next == Some('&');
        is_comment = letter != '\n' && (is_comment || quote.is_none() && word.is_none() && letter == '#');
        match letter {
            _ if is_comment => {}
            '\\' if next == Some('\n') => _ = letters.next(),
            '"' | '\'' if quote.is_none() => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            _ if quote == Some(letter) => quote = None,
            _ if ends || quote.is_none() && letter.is_whitespace() => {
                found.last_mut().expect("invariant: there is one").extend(word.take());
                if ends {
                    found.push(Vec::new());
                    _ = letters.next_if(|next| letter == '&' && *next == '&');
                }
            }
            _ => word.get_or_insert_default().push(letter),
        }
    }
    found.last_mut().expect("invariant: there is one").extend(word);
    found.retain(|words| !words.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_words_quotes_comments_and_long_lines() {
        let text = "a  \"b c\"  # d; e\nf 'g;h' && i \\\n  j=1#2;\n# k\n";
        let words: Vec<String> = words_of(text).iter().map(|words| words.join("|")).collect();
        assert_eq!(words, ["a|b c", "f|g;h", "i|j=1#2"]);
    }

    #[test]
    fn commands_are_settings_routes_and_queues() {
        let text = "../common/defaults.sh\nsysctl -q net/ipv4/tcp_sack = 0; echo 1 > /proc/sys/net/ipv4/tcp_ecn\n\
                    ip ro change 192.0.2.0/24 dev tun0 initcwnd 2; tc qdisc replace dev tun0 root fq limit 9; rm x";
        let shown: Vec<String> = commands(text).iter().map(Command::to_string).collect();
        let expected = [
            "defaults.sh",
            "sysctl net.ipv4.tcp_sack=0",
            "sysctl net.ipv4.tcp_ecn=1",
            "ip route change 192.0.2.0/24 dev tun0 initcwnd 2",
            "tc qdisc fq limit 9",
            "rm x",
        ];
        assert_eq!(shown, expected);
    }
}
