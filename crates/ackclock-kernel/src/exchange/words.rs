//! The names of C in the arguments of calls, and the names of errors.

/// Names and their values.
type Words = &'static [(&'static str, i64)];

const WORDS: Words = &[
    ("SOL_SOCKET", libc::SOL_SOCKET as i64),
    ("SOL_TCP", libc::IPPROTO_TCP as i64),
    ("IPPROTO_TCP", libc::IPPROTO_TCP as i64),
    ("SOL_IP", libc::IPPROTO_IP as i64),
    ("IPPROTO_IP", libc::IPPROTO_IP as i64),
    ("SO_REUSEADDR", libc::SO_REUSEADDR as i64),
    ("SO_REUSEPORT", libc::SO_REUSEPORT as i64),
    ("SO_KEEPALIVE", libc::SO_KEEPALIVE as i64),
    ("SO_SNDBUF", libc::SO_SNDBUF as i64),
    ("SO_RCVBUF", libc::SO_RCVBUF as i64),
    ("SO_LINGER", libc::SO_LINGER as i64),
    ("SO_MAX_PACING_RATE", libc::SO_MAX_PACING_RATE as i64),
    ("TCP_NODELAY", libc::TCP_NODELAY as i64),
    ("TCP_MAXSEG", libc::TCP_MAXSEG as i64),
    ("TCP_CORK", libc::TCP_CORK as i64),
    ("TCP_KEEPIDLE", libc::TCP_KEEPIDLE as i64),
    ("TCP_KEEPINTVL", libc::TCP_KEEPINTVL as i64),
    ("TCP_KEEPCNT", libc::TCP_KEEPCNT as i64),
    ("TCP_SYNCNT", libc::TCP_SYNCNT as i64),
    ("TCP_LINGER2", libc::TCP_LINGER2 as i64),
    ("TCP_DEFER_ACCEPT", libc::TCP_DEFER_ACCEPT as i64),
    ("TCP_WINDOW_CLAMP", libc::TCP_WINDOW_CLAMP as i64),
    ("TCP_QUICKACK", libc::TCP_QUICKACK as i64),
    ("TCP_CONGESTION", libc::TCP_CONGESTION as i64),
    ("TCP_THIN_LINEAR_TIMEOUTS", libc::TCP_THIN_LINEAR_TIMEOUTS as i64),
    ("TCP_USER_TIMEOUT", libc::TCP_USER_TIMEOUT as i64),
    ("IP_TOS", libc::IP_TOS as i64),
    ("IP_TTL", libc::IP_TTL as i64),
    ("IP_MTU_DISCOVER", libc::IP_MTU_DISCOVER as i64),
    ("IP_PMTUDISC_DONT", libc::IP_PMTUDISC_DONT as i64),
    ("IP_PMTUDISC_WANT", libc::IP_PMTUDISC_WANT as i64),
    ("IP_PMTUDISC_DO", libc::IP_PMTUDISC_DO as i64),
    ("MSG_DONTWAIT", libc::MSG_DONTWAIT as i64),
    ("MSG_NOSIGNAL", libc::MSG_NOSIGNAL as i64),
    ("MSG_PEEK", libc::MSG_PEEK as i64),
    ("MSG_TRUNC", libc::MSG_TRUNC as i64),
    ("MSG_WAITALL", libc::MSG_WAITALL as i64),
    ("SHUT_RD", libc::SHUT_RD as i64),
    ("SHUT_WR", libc::SHUT_WR as i64),
    ("SHUT_RDWR", libc::SHUT_RDWR as i64),
    ("O_NONBLOCK", libc::O_NONBLOCK as i64),
    ("O_RDWR", libc::O_RDWR as i64),
    ("O_RDONLY", libc::O_RDONLY as i64),
];

const ERRORS: &[(i32, &str)] = &[
    (libc::EPERM, "EPERM"),
    (libc::ENOENT, "ENOENT"),
    (libc::EBADF, "EBADF"),
    (libc::EAGAIN, "EAGAIN"),
    (libc::ENOMEM, "ENOMEM"),
    (libc::EINVAL, "EINVAL"),
    (libc::EPIPE, "EPIPE"),
    (libc::EDESTADDRREQ, "EDESTADDRREQ"),
    (libc::EMSGSIZE, "EMSGSIZE"),
    (libc::ENOPROTOOPT, "ENOPROTOOPT"),
    (libc::EOPNOTSUPP, "EOPNOTSUPP"),
    (libc::EADDRINUSE, "EADDRINUSE"),
    (libc::ENETUNREACH, "ENETUNREACH"),
    (libc::ECONNABORTED, "ECONNABORTED"),
    (libc::ECONNRESET, "ECONNRESET"),
    (libc::ENOBUFS, "ENOBUFS"),
    (libc::EISCONN, "EISCONN"),
    (libc::ENOTCONN, "ENOTCONN"),
    (libc::ETIMEDOUT, "ETIMEDOUT"),
    (libc::ECONNREFUSED, "ECONNREFUSED"),
    (libc::EHOSTUNREACH, "EHOSTUNREACH"),
    (libc::EALREADY, "EALREADY"),
    (libc::EINPROGRESS, "EINPROGRESS"),
];

/// The value of a number or of names joined by `|`.
pub fn value(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Some(digits) = text.strip_prefix("0x") {
        return i64::from_str_radix(digits, 16).ok();
    }
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    text.split('|')
        .map(|word| WORDS.iter().find(|(name, _)| *name == word.trim()).map(|(_, value)| *value))
        .try_fold(0, |sum, value| Some(sum | value?))
}

/// The name of an error of the kernel.
pub fn error_name(number: i64) -> &'static str {
    ERRORS.iter().find(|(known, _)| i64::from(*known) == number).map_or("an error", |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_names_and_flags_have_values() {
        assert_eq!(value(" 12 "), Some(12));
        assert_eq!(value("0x10"), Some(16));
        assert_eq!(value("O_RDWR | O_NONBLOCK"), Some(i64::from(libc::O_RDWR | libc::O_NONBLOCK)));
        assert_eq!(value("..."), None);
        assert_eq!(error_name(115), "EINPROGRESS");
    }
}
