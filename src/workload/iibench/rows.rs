//! Rows of the insert benchmark from a seeded generator.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::io::Write;

/// The published client's random seed.
pub(super) const LOAD_SEED: u64 = 3_221_223_452;

/// Values of one row but for its key and its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Row {
    pub cashregister: u32,
    pub customer: u32,
    pub product: u32,
    /// The price in hundredths.
    pub price_cents: u32,
}

/// A stream of rows: the same seed gives the same rows.
pub(super) struct Rows(Pcg64Mcg);

impl Rows {
    pub(super) fn new(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    /// cashregisterid uniform in [0, 1000), customerid in [0, 100000), productid in [0, 10000),
    /// price (U[0,1) x 500 + customerid) / 100 with two decimals.
    pub(super) fn row(&mut self) -> Row {
        let customer = self.0.random_range(0..100_000);
        Row {
            cashregister: self.0.random_range(0..1000),
            customer,
            product: self.0.random_range(0..10_000),
            price_cents: (self.0.random::<f64>() * 500.0 + f64::from(customer)).round() as u32,
        }
    }

    /// A key between 1 and `rows`.
    pub(super) fn key(&mut self, rows: u64) -> u64 {
        self.0.random_range(1..=rows.max(1))
    }

    /// A row number between 0 and `rows`, for its time.
    pub(super) fn number(&mut self, rows: u64) -> u64 {
        self.0.random_range(0..=rows)
    }
}

/// Appends `dateandtime` of row number `n`: the published client's clock moves on by a second for 100,000 rows, the same for a batch.
/// It starts on the day of the published client, so that a run can be repeated.
pub(super) fn write_time(out: &mut Vec<u8>, n: u64) {
    let seconds = n / 100_000;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    // April has 30 days; rows for more than the rest of the century are not loaded.
    let (month, day) = if days < 13 { (4, 18 + days) } else { (5, days - 12) };
    let _ = write!(
        out,
        "2009-{month:02}-{:02} {hours:02}:{minutes:02}:{:02}",
        day.min(31),
        seconds % 60
    );
}

/// Appends a price of cents as `12.34`.
pub(super) fn write_price(out: &mut Vec<u8>, cents: u32) {
    let _ = write!(out, "{}.{:02}", cents / 100, cents % 100);
}

/// Appends the tab-separated line that LOAD DATA takes for row `n` (from 1).
pub(super) fn write_line(out: &mut Vec<u8>, n: u64, row: Row) {
    let _ = write!(out, "{n}\t");
    write_time(out, n);
    let _ = write!(out, "\t{}\t{}\t{}\t", row.cashregister, row.customer, row.product);
    write_price(out, row.price_cents);
    out.push(b'\n');
}

/// The multi-row INSERT of `count` rows, the first of which has number `first`.
pub(super) fn insert_statement(rows: &mut Rows, first: u64, count: u64) -> String {
    let mut out = Vec::with_capacity(64 * count as usize + 128);
    let _ = write!(
        out,
        "INSERT INTO {} (dateandtime,cashregisterid,customerid,productid,price) VALUES ",
        super::TABLE
    );
    let mut time = Vec::new();
    write_time(&mut time, first);
    for i in 0..count {
        let row = rows.row();
        out.extend_from_slice(if i == 0 { b"('" } else { b",('" });
        out.extend_from_slice(&time);
        let _ = write!(out, "',{},{},{},", row.cashregister, row.customer, row.product);
        write_price(&mut out, row.price_cents);
        out.push(b')');
    }
    String::from_utf8(out).expect("digits and ASCII only")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_rows_in_the_published_ranges() {
        let (mut a, mut b, mut c) = (Rows::new(1), Rows::new(1), Rows::new(2));
        let mut differs = false;
        for _ in 0..10_000 {
            let row = a.row();
            assert_eq!(row, b.row());
            differs |= row != c.row();
            assert!(row.cashregister < 1000 && row.customer < 100_000 && row.product < 10_000);
            assert!(row.price_cents >= row.customer && row.price_cents <= row.customer + 500);
        }
        assert!(differs);
    }

    #[test]
    fn times_move_on_by_a_second_for_a_hundred_thousand_rows() {
        let time = |n| {
            let mut out = Vec::new();
            write_time(&mut out, n);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(time(0), "2009-04-18 00:00:00");
        assert_eq!(time(99_999), "2009-04-18 00:00:00");
        assert_eq!(time(50_000_000), "2009-04-18 00:08:20");
        assert_eq!(time(86_400 * 100_000 * 13), "2009-05-01 00:00:00");
    }

    #[test]
    fn a_line_and_a_statement() {
        let mut line = Vec::new();
        write_line(
            &mut line,
            7,
            Row {
                cashregister: 1,
                customer: 2,
                product: 3,
                price_cents: 405,
            },
        );
        assert_eq!(line, b"7\t2009-04-18 00:00:00\t1\t2\t3\t4.05\n");
        let statement = insert_statement(&mut Rows::new(1), 0, 2);
        assert!(statement.starts_with("INSERT INTO purchases_index (dateandtime,cashregisterid,customerid,productid,price) VALUES ('2009-"));
        assert_eq!(statement.matches("('").count(), 2);
    }
}
