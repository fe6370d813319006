//! Adds up the counts of shards.

use cento_api::ShardFrequencies;

use super::super::sample::Sample;
use super::text_sample;
use crate::error::{Error, Result};

/// Adds up the frequencies of shards, and combines their samples.
///
/// # Errors
/// When the queries or the settings of the shards differ, or a shard occurs twice.
pub fn add_up_frequencies(shards: Vec<ShardFrequencies>) -> Result<ShardFrequencies> {
    let mut shards = shards.into_iter();
    let Some(first) = shards.next() else {
        return Err(Error::argument("frequencies", "there is no shard"));
    };
    let mut samples: Option<Vec<Sample>> = Some(Vec::new());
    let mut keep = |of: &ShardFrequencies| -> Result<()> {
        let sample = of.sample.as_ref().map(text_sample::of_json).transpose()?;
        samples = samples.take().zip(sample).map(|(mut all, one)| {
            all.push(one);
            all
        });
        Ok(())
    };
    keep(&first)?;
    let mut sum = first;
    for shard in shards {
        keep(&shard)?;
        sum = added(sum, shard)?;
    }
    sum.sample = samples.map(|samples| text_sample::to_json(&Sample::of_all(samples)));
    Ok(sum)
}

/// Adds the frequencies of another shard, without its sample.
fn added(sum: ShardFrequencies, other: ShardFrequencies) -> Result<ShardFrequencies> {
    check_alike(&sum, &other)?;
    let are_both_counted = sum.documents > 0 && other.documents > 0;
    if are_both_counted && other.commits.iter().any(|commit| sum.commits.contains(commit)) {
        let what = "two shards have the same commit: they are copies of one index, and its \
                    documents would count twice; name one of them";
        return Err(Error::argument("frequencies", what));
    }
    let is_gone = |of: &ShardFrequencies, place: u32| {
        of.dfs[place as usize] == 0 || of.gone.binary_search(&place).is_ok()
    };
    let all = 0..sum.dfs.len() as u32;
    let gone = all.filter(|&place| {
        let is_there = sum.dfs[place as usize] > 0 || other.dfs[place as usize] > 0;
        is_there && is_gone(&sum, place) && is_gone(&other, place)
    });
    let gone = gone.collect();
    let mut commits = [sum.commits, other.commits].concat();
    commits.sort_unstable();
    let mut missing_fields = sum.missing_fields;
    missing_fields.retain(|field| other.missing_fields.contains(field));
    Ok(ShardFrequencies {
        commits,
        preset: sum.preset.filter(|preset| other.preset == Some(*preset)),
        documents: sum.documents.saturating_add(other.documents),
        deleted_documents: sum.deleted_documents.saturating_add(other.deleted_documents),
        dfs: added_each(sum.dfs, other.dfs),
        deleted: added_each(sum.deleted, other.deleted),
        gone,
        missing_fields,
        sample: None,
        ..sum
    })
}

fn added_each(mut numbers: Vec<u64>, others: Vec<u64>) -> Vec<u64> {
    if numbers.is_empty() {
        return others;
    }
    numbers.iter_mut().zip(others).for_each(|(number, other)| {
        *number = number.saturating_add(other);
    });
    numbers
}

/// Refuses to add up frequencies that do not belong together.
fn check_alike(one: &ShardFrequencies, other: &ShardFrequencies) -> Result<()> {
    if one.settings != other.settings {
        let what = "the shards differ in scheme, analyzer, key or stored texts: their fingerprints \
                    cannot be compared";
        return Err(Error::argument("frequencies", what));
    }
    if one.max_df != other.max_df {
        let what = format!(
            "the shards have different limits of document frequency, {} and {}; choose one",
            one.max_df, other.max_df
        );
        return Err(Error::argument("max_df", what));
    }
    let number = one.dfs.len();
    let are_complete = [one, other]
        .iter()
        .all(|of| of.dfs.len() == number && (of.deleted.is_empty() || of.deleted.len() == number));
    if one.fingerprints != other.fingerprints || !are_complete {
        let what = "the frequencies are those of different queries";
        return Err(Error::argument("frequencies", what));
    }
    Ok(())
}
