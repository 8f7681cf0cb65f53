//! The system calls of a script, as records to the guest.

use std::net::Ipv4Addr;

use ackclock::exchange::{Call, Returned};

use super::wire::End;
use super::words::{error_name, value};

/// The port of a script that gives none.
pub const PORT: u16 = 8080;
/// The sockets of a guest: PLACES of guest/agent/calls.c.
const PLACES: u16 = 64;

/// enum ackclock_operation of guest/agent/shared.h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Operation {
    /// `socket`.
    Socket = 1,
    /// `listen`.
    Listen,
    /// `accept`.
    Accept,
    /// `bind`.
    Bind,
    /// `connect`.
    Connect,
    /// `write` and its like.
    Send,
    /// `read` and its like.
    Receive,
    /// `setsockopt`.
    SetOption,
    /// `shutdown`.
    Shutdown,
    /// `close`.
    Close,
    /// Reads `tcp_info`.
    Info,
}

/// A call as the guest carries it out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The call.
    pub operation: Operation,
    /// The place of its socket.
    pub place: u16,
    flags: u32,
    value: u64,
    end: Option<End>,
    content: Vec<u8>,
}

/// What is to do for a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The guest carries it out.
    Asks(Request),
    /// It has this result here.
    Known(Returned),
}

/// A socket of the script.
#[derive(Clone, Copy, Debug)]
struct Socket {
    /// The descriptor in the script.
    fd: i64,
    place: u16,
    /// Its calls do not wait.
    is_nonblocking: bool,
}

/// The sockets of a script. Their places in the guest are not used again.
#[derive(Clone, Debug)]
pub struct Sockets {
    open: Vec<Socket>,
    next: u16,
    /// The place of the connection whose state a script reads.
    connection: Option<u16>,
    here: Ipv4Addr,
    there: Ipv4Addr,
}

impl Request {
    /// A call of a socket without arguments.
    pub fn new(operation: Operation, place: u16) -> Self {
        Request { operation, place, flags: 0, value: 0, end: None, content: Vec::new() }
    }

    /// `struct ackclock_request` of guest/agent/shared.h, with the content.
    pub fn record(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(24 + self.content.len());
        bytes.extend((self.operation as u16).to_ne_bytes());
        bytes.extend(self.place.to_ne_bytes());
        bytes.extend(self.flags.to_ne_bytes());
        bytes.extend(self.value.to_ne_bytes());
        bytes.extend(self.end.map_or([0; 4], |end| end.address.octets()));
        bytes.extend(self.end.map_or(0, |end| end.port).to_ne_bytes());
        bytes.extend((self.content.len() as u16).to_ne_bytes());
        bytes.extend(&self.content);
        bytes
    }
}

impl Sockets {
    /// None. Scripts connect one address to another.
    pub fn new(here: Ipv4Addr, there: Ipv4Addr) -> Self {
        Sockets { open: Vec::new(), next: 0, connection: None, here, there }
    }

    /// The place of the connection whose state a script reads.
    pub fn connection(&self) -> Option<u16> {
        self.connection
    }

    /// Prepares a call.
    ///
    /// # Errors
    /// A call that does not exist here, or makes no sense.
    pub fn prepare(&mut self, call: &Call) -> Result<Step, String> {
        let name = call.name.as_str();
        if name == "socket" {
            return self.socket(call);
        }
        let fd = number(call, 0)?;
        let Some(index) = self.open.iter().position(|socket| socket.fd == fd) else {
            return Err(format!("{name}({fd}): there is no such socket"));
        };
        let socket = self.open[index];
        let new = |operation: Operation| Request::new(operation, socket.place);
        let waits = if socket.is_nonblocking { libc::O_NONBLOCK as u32 } else { 0 };
        let request = match name {
            "bind" => Request { end: Some(End { address: self.here, port: PORT }), ..new(Operation::Bind) },
            "listen" => Request { value: number(call, 1)?.max(0) as u64, ..new(Operation::Listen) },
            "accept" | "accept4" => {
                let place = self.next;
                self.next += 1;
                let flags = call.arguments.get(3).and_then(|flags| value(flags)).unwrap_or(0);
                let fd = call.result.filter(|fd| *fd > 0).unwrap_or(fd + 1);
                let is_nonblocking = flags & i64::from(libc::O_NONBLOCK) != 0;
                self.open.push(Socket { fd, place, is_nonblocking });
                Request { flags: waits, value: place.into(), ..new(Operation::Accept) }
            }
            "connect" => {
                self.connection = Some(socket.place);
                let end = Some(End { address: self.there, port: PORT });
                Request { flags: waits, end, ..new(Operation::Connect) }
            }
            "setsockopt" => return set_option(call, new(Operation::SetOption)),
            "write" | "send" | "sendto" | "read" | "recv" | "recvfrom" => {
                let sends = matches!(name, "write" | "send" | "sendto");
                let len = u64::try_from(number(call, 2)?).map_err(|_| format!("{name}: a negative length"))?;
                let given = call.arguments.get(3).filter(|_| !matches!(name, "write" | "read"));
                let given = given.map_or(Some(0), |flags| value(flags));
                let given = given.ok_or_else(|| format!("{name}: unknown flags"))?;
                let waits = if socket.is_nonblocking { libc::MSG_DONTWAIT as u32 } else { 0 };
                let operation = if sends { Operation::Send } else { Operation::Receive };
                Request { flags: given as u32 | waits, value: len, ..new(operation) }
            }
            "shutdown" => {
                let how = call.arguments.get(1).and_then(|how| value(how));
                let how = how.ok_or_else(|| "shutdown: expected SHUT_RD, SHUT_WR or SHUT_RDWR".to_owned())?;
                Request { value: how as u64, ..new(Operation::Shutdown) }
            }
            "close" => {
                self.open.remove(index);
                new(Operation::Close)
            }
            "fcntl" => return Ok(Step::Known(self.control(index, call))),
            "ioctl" | "getsockopt" => return Ok(Step::Known(Returned::value(call.result.unwrap_or(0)))),
            other => return Err(format!("the call {other} is not supported")),
        };
        Ok(Step::Asks(request))
    }

    /// The result of a call for the script.
    pub fn returned(&mut self, request: &Request, result: i64) -> Returned {
        let is_refused = result < 0;
        let place = match request.operation {
            Operation::Accept => request.value as u16,
            Operation::Socket => request.place,
            _ if is_refused => return Returned::error(error_name(-result)),
            _ => return Returned::value(result),
        };
        if is_refused {
            self.open.retain(|socket| socket.place != place);
            return Returned::error(error_name(-result));
        }
        if request.operation == Operation::Accept {
            self.connection = Some(place);
        }
        let opened = self.open.iter().find(|socket| socket.place == place);
        Returned::value(opened.map_or(result, |socket| socket.fd))
    }

    fn socket(&mut self, call: &Call) -> Result<Step, String> {
        let kind = call.arguments.get(1).map_or("", String::as_str);
        if !kind.contains("SOCK_STREAM") {
            return Err("only TCP sockets are supported".to_owned());
        }
        if self.next >= PLACES {
            return Err(format!("a script opens at most {PLACES} sockets"));
        }
        let place = self.next;
        self.next += 1;
        let fd = call.result.filter(|fd| *fd >= 0).unwrap_or(3 + i64::from(place));
        self.open.push(Socket { fd, place, is_nonblocking: kind.contains("SOCK_NONBLOCK") });
        Ok(Step::Asks(Request { value: libc::IPPROTO_TCP as u64, ..Request::new(Operation::Socket, place) }))
    }

    fn control(&mut self, index: usize, call: &Call) -> Returned {
        let flags = call.arguments.get(2).and_then(|flags| value(flags)).unwrap_or(0);
        if call.arguments.get(1).is_some_and(|command| command == "F_SETFL") {
            self.open[index].is_nonblocking = flags & i64::from(libc::O_NONBLOCK) != 0;
        }
        Returned::value(call.result.unwrap_or(0))
    }
}

fn set_option(call: &Call, request: Request) -> Result<Step, String> {
    let argument = |place: usize| call.arguments.get(place).map_or("", String::as_str);
    let (level, name, given) = (argument(1), argument(2), argument(3));
    let note = |message: String| Ok(Step::Known(Returned { note: Some(message), ..Returned::value(0) }));
    let (Some(level), Some(option)) = (value(level), value(name)) else {
        return note(format!("the socket option {name} is not supported"));
    };
    let content = match content(given) {
        Some(content) => content,
        None => return note(format!("{name}: the value {given} is not supported")),
    };
    Ok(Step::Asks(Request { flags: level as u32, value: option as u64, content, ..request }))
}

/// The bytes of an option: a text, a number, or the numbers of a structure.
fn content(given: &str) -> Option<Vec<u8>> {
    if let Some(text) = given.strip_prefix('"') {
        return Some(text.trim_end_matches('"').bytes().collect());
    }
    let inner = given.trim_matches(|c| matches!(c, '[' | ']' | '{' | '}' | ' '));
    let numbers = inner.split(',').map(|part| value(part.rsplit('=').next().unwrap_or(part)));
    let numbers: Option<Vec<i64>> = numbers.collect();
    Some(numbers?.into_iter().flat_map(|number| (number as i32).to_ne_bytes()).collect())
}

fn number(call: &Call, index: usize) -> Result<i64, String> {
    let text = call.arguments.get(index).map_or("", String::as_str);
    text.parse().map_err(|_| format!("{}: argument {} should be a number, not `{text}`", call.name, index + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arguments: &[&str], result: i64) -> Call {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        Call { name: name.to_owned(), arguments, result: Some(result), errno: None, may_wait: false }
    }

    fn asks(step: Result<Step, String>) -> Request {
        match step {
            Ok(Step::Asks(request)) => request,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn descriptors_of_the_script_are_places_of_the_guest() {
        let mut sockets = Sockets::new(Ipv4Addr::LOCALHOST, Ipv4Addr::BROADCAST);
        let socket = asks(sockets.prepare(&call("socket", &["...", "SOCK_STREAM", "IPPROTO_TCP"], 3)));
        assert_eq!((socket.operation, socket.place), (Operation::Socket, 0));
        assert_eq!(sockets.returned(&socket, 0), Returned::value(3));
        let accept = asks(sockets.prepare(&call("accept", &["3", "...", "..."], 4)));
        assert_eq!((accept.place, accept.value, sockets.connection()), (0, 1, None));
        assert_eq!(sockets.returned(&accept, 0), Returned::value(4));
        assert_eq!(sockets.connection(), Some(1));
        let known = sockets.prepare(&call("fcntl", &["4", "F_SETFL", "O_RDWR|O_NONBLOCK"], 0));
        assert_eq!(known, Ok(Step::Known(Returned::value(0))));
        let read = asks(sockets.prepare(&call("read", &["4", "...", "1000"], 1000)));
        assert_eq!((read.place, read.value, read.flags), (1, 1000, libc::MSG_DONTWAIT as u32));
        assert_eq!(sockets.returned(&read, -11), Returned::error("EAGAIN"));
        asks(sockets.prepare(&call("close", &["4"], 0)));
        assert!(sockets.prepare(&call("close", &["4"], 0)).is_err());
    }

    #[test]
    fn options_are_numbers_texts_or_structures() {
        assert_eq!(content("[1]"), Some(1_i32.to_ne_bytes().to_vec()));
        assert_eq!(content("\"cubic\""), Some(b"cubic".to_vec()));
        let linger: Vec<u8> = [1_i32, 0].iter().flat_map(|number| number.to_ne_bytes()).collect();
        assert_eq!(content("{onoff=1, linger=0}"), Some(linger));
        assert_eq!(content("..."), None);
    }
}
