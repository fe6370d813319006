//! The pairs of RFCs of Finkel et al. 2002, table 1, found from either side.

use clap::Args;

use crate::Result;
use crate::cento::Cento;

/// Look for the twelve pairs of Finkel et al. 2002, table 1.
#[derive(Debug, Args)]
pub struct Finkel {
    #[command(flatten)]
    cento: Cento,
    /// An index of the RFCs, with ids such as rfc1596.
    #[arg(long)]
    index: String,
    /// Hits have at least this containment.
    #[arg(long, default_value = "0.01")]
    min_containment: f64,
}

/// RFC 1, RFC 2, and the asymmetric similarities by MDR, signature extraction (SE) and
/// overlapping chunks (OV), in hundredths.
pub const TABLE_1: [(u32, u32, [u32; 6]); 12] = [
    (1596, 1604, [99, 99, 91, 92, 94, 94]),
    (2264, 2274, [99, 99, 96, 95, 94, 94]),
    (1138, 1148, [96, 95, 93, 92, 91, 89]),
    (1065, 1155, [96, 91, 71, 68, 84, 79]),
    (1048, 1084, [94, 91, 73, 67, 87, 82]),
    (2059, 2139, [92, 90, 77, 83, 83, 81]),
    (1084, 1395, [86, 84, 58, 64, 79, 75]),
    (1497, 1084, [82, 87, 38, 42, 73, 79]),
    (1600, 1410, [72, 77, 52, 48, 58, 61]),
    (2497, 2394, [19, 17, 33, 27, 16, 15]),
    (2422, 2276, [18, 3, 23, 6, 15, 2]),
    (2392, 2541, [16, 12, 27, 17, 13, 10]),
];

impl Finkel {
    pub(crate) fn run(self) -> Result {
        println!("| RFC 1 | RFC 2 | MDR | SE | OV | cento 1 | cento 2 | rank 1 | rank 2 |");
        println!("|---|---|---|---|---|---|---|---|---|");
        let mut missing = 0;
        for (first, second, [mdr1, mdr2, se1, se2, ov1, ov2]) in TABLE_1 {
            let there = self.containment(first, second)?;
            let back = self.containment(second, first)?;
            missing += usize::from(there.is_none()) + usize::from(back.is_none());
            let shown = |found: Option<(usize, f64)>| match found {
                Some((rank, containment)) => {
                    (format!("{:.0}", containment * 100.0), rank.to_string())
                }
                None => ("not found".into(), "-".into()),
            };
            let ((c1, r1), (c2, r2)) = (shown(there), shown(back));
            println!(
                "| {first} | {second} | {mdr1} {mdr2} | {se1} {se2} | {ov1} {ov2} | {c1} | {c2} | {r1} | {r2} |"
            );
        }
        println!("\n{} of 24 found", 24 - missing);
        if missing > 0 { Err("some pairs were not found".into()) } else { Ok(()) }
    }

    /// The rank of `to` among the hits for `from`, and C(from, to).
    fn containment(&self, from: u32, to: u32) -> Result<Option<(usize, f64)>> {
        let (from, to) = (format!("rfc{from}"), format!("rfc{to}"));
        let containment = self.min_containment.to_string();
        let args = [
            "search",
            &self.index,
            "--id",
            &from,
            "--limit",
            "1000",
            "--min-containment",
            &containment,
        ];
        let answer = self.cento.object(&args)?;
        let hits = answer["hits"].as_array().ok_or("an answer without hits")?;
        let rank = hits.iter().position(|hit| hit["id"] == to.as_str());
        Ok(rank.map(|rank| (rank + 1, hits[rank]["containment"].as_f64().unwrap_or(0.0))))
    }
}
