//! HTML and JSON reports of pairs.

use std::collections::{HashMap, HashSet};

use cento::index::Snapshot;
use cento::search::Searcher;
use cento_collections::Scope;
use cento_collections::pairs::PairReport;
use cento_report::{DescribedLinks, DescribedPairs, Group, PartedText, ReportMemory};

use crate::memory;
use crate::output;
use crate::terminal::tell;

fn read(from: &Snapshot, id: &str, texts: &mut HashMap<String, PartedText>) -> cento::Result<()> {
    if !texts.contains_key(id)
        && let Some(address) = from.find(id)?
        && let Some(text) = PartedText::of(from.document(address)?)
    {
        texts.insert(id.to_owned(), text);
    }
    Ok(())
}

/// Reads the texts for a report of pairs across two indexes. An id in both indexes becomes two
/// names.
///
/// # Errors
/// When a text cannot be read.
pub fn joined_across(
    pairs: Vec<(PairReport, f64)>,
    links: DescribedLinks,
    [one, other]: [&Searcher; 2],
    place: &str,
    scope: &Scope,
    bytes_max: usize,
) -> cento::Result<DescribedPairs> {
    let mut room = ReportMemory::of(bytes_max);
    let of_links = links.links.iter().map(|link| &link.ends[0].name);
    let firsts: HashSet<String> =
        pairs.iter().map(|(pair, _)| &pair.a).chain(of_links).cloned().collect();
    let name_of_second = |id: &str| match firsts.contains(id) {
        true => format!("{id} (in {place})"),
        false => id.to_owned(),
    };
    let links = links.rename_second(name_of_second);
    let (mut texts, mut groups) = (HashMap::new(), HashMap::new());
    let mut renamed = Vec::with_capacity(pairs.len());
    for (mut pair, similarity) in pairs {
        let known = texts.len();
        read(one.snapshot(), &pair.a, &mut texts)?;
        let mut found = HashMap::new();
        read(other.snapshot(), &pair.b, &mut found)?;
        let group_a = Group::of(scope, one.snapshot(), &pair.a, None)?;
        let group_b = Group::of(scope, other.snapshot(), &pair.b, None)?;
        pair.b = name_of_second(&pair.b);
        if texts.len() > known {
            room.take_text(&texts[&pair.a]);
        }
        found
            .values()
            .filter(|_| !texts.contains_key(&pair.b))
            .for_each(|text| room.take_text(text));
        room.take_passages(&pair);
        if !room.suffices() {
            break;
        }
        groups.extend(group_a.map(|group| (pair.a.clone(), group)));
        groups.extend(group_b.map(|group| (pair.b.clone(), group)));
        texts.extend(found.into_values().map(|text| (pair.b.clone(), text)));
        renamed.push((pair, similarity));
    }
    Ok(DescribedPairs { pairs: renamed, texts, groups, links, ..DescribedPairs::default() })
}

/// Returns the memory, in bytes, for the data of a report of pairs.
pub fn report_bytes_max() -> usize {
    memory::default_bytes() / 2
}

/// Reports that a report omits pairs because of the memory limit.
pub fn tell_cut(shown: usize, all: usize) {
    if shown < all {
        tell!(
            "cento: the report lacks the last {} of {}, because {} of memory do not suffice for \
             it; lower --limit",
            output::counted((all - shown) as u64, "pair"),
            output::count(all as u64),
            output::bytes(report_bytes_max() as u64)
        );
    }
}
