//! The four query sessions of the second test: each loops one query type with no think time and commits after four.

use super::{
    TABLE,
    rows::{Rows, write_price, write_time},
};

/// `rows_per_query` of the published client.
const LIMIT: u32 = 1000;

/// One query type of the published client. All but the first are index-only scans from a random start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Query {
    PrimaryKey,
    PriceDateCustomer,
    MarketSegment,
    RegisterSegment,
}

impl Query {
    pub(super) const ALL: [Query; 4] = [
        Self::PrimaryKey,
        Self::PriceDateCustomer,
        Self::MarketSegment,
        Self::RegisterSegment,
    ];

    /// The next statement, its start drawn from the distributions of the inserts, on a table of `rows` rows.
    pub(super) fn statement(self, random: &mut Rows, rows: u64) -> String {
        let row = random.row();
        let (customer, register) = (row.customer, row.cashregister);
        let mut price = Vec::new();
        write_price(&mut price, row.price_cents);
        let price = String::from_utf8_lossy(&price);
        match self {
            Self::PrimaryKey => {
                let key = random.key(rows);
                format!("SELECT transactionid FROM {TABLE} WHERE transactionid >= {key} LIMIT {LIMIT}")
            }
            Self::PriceDateCustomer => {
                let mut time = Vec::new();
                write_time(&mut time, random.number(rows));
                let time = String::from_utf8_lossy(&time);
                format!(
                    "SELECT price,dateandtime,customerid FROM {TABLE} FORCE INDEX (pdc) WHERE \
                     (price={price} AND dateandtime='{time}' AND customerid>={customer}) OR \
                     (price={price} AND dateandtime>'{time}') OR (price>{price}) LIMIT {LIMIT}"
                )
            }
            Self::MarketSegment => format!(
                "SELECT price,customerid FROM {TABLE} FORCE INDEX (marketsegment) WHERE \
                 (price={price} AND customerid>={customer}) OR (price>{price}) LIMIT {LIMIT}"
            ),
            Self::RegisterSegment => format!(
                "SELECT cashregisterid,price,customerid FROM {TABLE} FORCE INDEX (registersegment) WHERE \
                 (cashregisterid={register} AND price={price} AND customerid>={customer}) OR \
                 (cashregisterid={register} AND price>{price}) OR (cashregisterid>{register}) LIMIT {LIMIT}"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_names_its_index_and_its_limit() {
        for query in Query::ALL {
            let statement = query.statement(&mut Rows::new(5), 1000);
            assert!(statement.ends_with("LIMIT 1000"), "{statement}");
            assert_eq!(statement.contains("FORCE INDEX"), query != Query::PrimaryKey);
        }
    }
}
