//! The system calls of a script.

use super::endpoint::Endpoint;
use super::host::Returned;
use super::script::Call;
use crate::units::Instant;

/// Bytes that a script may write: sequence numbers stay clear of 32 bits.
const MAX_WRITTEN: u64 = 1 << 31;

/// The file descriptors of the one connection of a script.
#[derive(Clone, Debug, Default)]
pub struct Sockets {
    /// The descriptor that `socket` returned.
    first: Option<i64>,
    /// The descriptor that `accept` returned.
    accepted: Option<i64>,
    listening: bool,
    written: u64,
}

impl Sockets {
    /// Carries out a call.
    ///
    /// # Errors
    /// A call that does not exist here, or makes no sense.
    pub fn call(&mut self, now: Instant, call: &Call, endpoint: &mut Endpoint) -> Result<Returned, String> {
        if call.name == "socket" {
            return self.socket(call);
        }
        let fd = number(call, 0)?;
        if Some(fd) != self.first && Some(fd) != self.accepted {
            return Err(format!("{}({fd}): there is no such socket", call.name));
        }
        match call.name.as_str() {
            "bind" | "fcntl" | "ioctl" => Ok(Returned::value(call.result.unwrap_or(0))),
            "listen" => {
                if !endpoint.is_closed() {
                    return Err("listen: the socket is in use".to_owned());
                }
                self.listening = true;
                endpoint.listen();
                Ok(Returned::value(0))
            }
            "connect" => {
                if !endpoint.is_closed() {
                    return Ok(Returned::error(if endpoint.connection().is_some() { "EISCONN" } else { "EALREADY" }));
                }
                endpoint.connect(now);
                // A blocking call returns 0 later. This one does not block.
                let blocks = call.result == Some(0);
                Ok(if blocks { Returned::value(0) } else { Returned::error("EINPROGRESS") })
            }
            "accept" => {
                if !self.listening || endpoint.connection().is_none() {
                    return Ok(Returned::error("EAGAIN"));
                }
                let fd = call.result.filter(|fd| *fd > 0).unwrap_or(fd + 1);
                self.accepted = Some(fd);
                Ok(Returned::value(fd))
            }
            "setsockopt" => set_option(now, call, endpoint),
            "getsockopt" => Ok(Returned::value(0)),
            "write" | "send" | "sendto" => self.write(now, call, endpoint),
            "read" | "recv" | "recvfrom" => {
                let wanted = u64::try_from(number(call, 2)?).map_err(|_| "read: a negative length".to_owned())?;
                if endpoint.is_reset() {
                    return Ok(Returned::error("ECONNRESET"));
                }
                let Some((connection, sent)) = endpoint.connection_and_queue() else {
                    return Ok(Returned::error("ENOTCONN"));
                };
                let read = connection.read(now, wanted, sent);
                Ok(read.map_or(Returned::error("EAGAIN"), |read| Returned::value(read as i64)))
            }
            "close" | "shutdown" => {
                if call.name == "shutdown" && call.arguments.get(1).is_some_and(|how| how == "SHUT_RD") {
                    return Err("shutdown(SHUT_RD) is not supported".to_owned());
                }
                let listener = self.listening && Some(fd) == self.first;
                if let Some((connection, sent)) = endpoint.connection_and_queue().filter(|_| !listener) {
                    connection.close(now, sent);
                }
                Ok(Returned::value(0))
            }
            other => Err(format!("the call {other} is not supported")),
        }
    }

    fn socket(&mut self, call: &Call) -> Result<Returned, String> {
        if self.first.is_some() {
            return Err("a script has one socket, and what it accepts".to_owned());
        }
        if call.arguments.get(1).is_some_and(|kind| !kind.contains("SOCK_STREAM")) {
            return Err("only TCP sockets are supported".to_owned());
        }
        let fd = call.result.filter(|fd| *fd >= 0).unwrap_or(3);
        self.first = Some(fd);
        Ok(Returned::value(fd))
    }

    fn write(&mut self, now: Instant, call: &Call, endpoint: &mut Endpoint) -> Result<Returned, String> {
        let bytes = u64::try_from(number(call, 2)?).map_err(|_| "a negative length is written".to_owned())?;
        if call.arguments.get(3).is_some_and(|flags| flags.contains("MSG_FASTOPEN")) {
            return Err("TCP Fast Open is not supported".to_owned());
        }
        self.written = self.written.saturating_add(bytes);
        if self.written > MAX_WRITTEN {
            return Err(format!("more than {MAX_WRITTEN} bytes are written"));
        }
        if endpoint.is_reset() {
            return Ok(Returned::error("ECONNRESET"));
        }
        let Some((connection, sent)) = endpoint.connection_and_queue() else {
            return Ok(Returned::error("ENOTCONN"));
        };
        let open = connection.write(now, bytes, sent);
        Ok(if open { Returned::value(bytes as i64) } else { Returned::error("EPIPE") })
    }
}

fn set_option(now: Instant, call: &Call, endpoint: &mut Endpoint) -> Result<Returned, String> {
    let (Some(name), Some(value)) = (call.arguments.get(2), call.arguments.get(3)) else {
        return Err("setsockopt(fd, level, name, value, length) is expected".to_owned());
    };
    let before = endpoint.settings.clone();
    let mut note = endpoint.settings.socket_option(name, value)?;
    if endpoint.settings != before && !endpoint.apply_settings(now) && name != "TCP_QUICKACK" {
        note = Some(format!("{name} comes too late: the connection is in use"));
    }
    Ok(Returned { note, ..Returned::value(0) })
}

fn number(call: &Call, index: usize) -> Result<i64, String> {
    let text = call.arguments.get(index).map_or("", String::as_str);
    text.parse().map_err(|_| format!("{}: argument {} should be a number, not `{text}`", call.name, index + 1))
}
