use mysql_async::{Conn, prelude::Queryable as _};
use std::collections::BTreeMap;

/// The server's counters and gauges: those of `SHOW GLOBAL STATUS` that are numbers, under the server's own names.
///
/// # Errors
/// The server did not answer.
pub async fn status(conn: &mut Conn) -> Result<BTreeMap<String, f64>, mysql_async::Error> {
    let rows: Vec<(String, Option<String>)> = conn.query("SHOW GLOBAL STATUS").await?;
    let number = |text: String| text.parse().ok().filter(|x: &f64| x.is_finite());
    Ok(rows
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.and_then(number)?)))
        .collect())
}
