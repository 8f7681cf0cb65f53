//! Formats numbers and lists for sentences.

use super::estimate::Estimate;

/// Formats a number with `digits` significant digits, like `%g`.
pub fn general(value: f64, digits: usize) -> String {
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').expect("a number in scientific notation has an exponent");
    let exponent: i32 = exponent.parse().expect("an exponent is a whole number");
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs());
    }
    trimmed(&format!("{value:.*}", (digits as i32 - 1 - exponent) as usize))
}

/// Formats a number with `digits` decimals. Zero has no sign.
pub fn fixed(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    let is_zero = text.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.'));
    if is_zero { text.trim_start_matches('-').to_owned() } else { text }
}

/// Formats a number with three significant digits, and all digits of a larger integer part.
pub fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let before = libm::floor(libm::log10(value.abs())) as i32 + 1;
    format!("{value:.*}", (3 - before).max(0) as usize)
}

/// Formats a share with its interval.
pub fn share_text(share: &Estimate) -> String {
    match (share.low, share.high) {
        (Some(low), Some(high)) => format!("{:.2} [{low:.2}, {high:.2}]", share.mean),
        _ => format!("{:.2}", share.mean),
    }
}

/// Joins a list with commas, and with `and` before the last part.
pub fn joined(parts: &[String]) -> String {
    match parts {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => parts.concat(),
    }
}
