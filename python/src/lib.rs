//! The native half of the Python package `cento`, for `package/cento`.
//!
//! Names, types, defaults and documentation are in Python; this half has the parts that need the
//! library: values go in as Python's own; answers come out as tuples, other results as JSON of the
//! library's own types, and the Python half makes classes of them. Every call that may take long
//! releases the GIL and looks for signals ([`run`]).

mod answer;
mod arrow;
mod compare;
mod contents;
mod convert;
mod decontaminate;
mod decontaminated_rows;
mod dedup;
mod entry;
mod error;
mod families;
mod html;
mod index;
mod kept_rows;
mod listing;
mod merge;
mod meta;
mod offsets;
mod open_index;
mod own_writers;
mod pairs;
mod parts;
mod pipeline;
mod query;
mod reduced;
mod run;
mod search;
mod settings;
mod shards;
mod shared_out;
mod stream;
mod strings;
mod table;
mod watch;
mod writer;

use pyo3::prelude::*;

/// The native half of cento.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<index::Index>()?;
    module.add_class::<writer::Writer>()?;
    module.add_class::<answer::Answer>()?;
    module.add_class::<answer::Answers>()?;
    module.add_class::<pairs::Pairs>()?;
    module.add_class::<decontaminate::Benchmarks>()?;
    module.add_class::<dedup::Dedup>()?;
    module.add_class::<listing::Documents>()?;
    module.add_class::<listing::Ids>()?;
    module.add_class::<shared_out::TextJudge>()?;
    module.add_class::<shared_out::TextSigner>()?;
    module.add_class::<stream::Stream>()?;
    module.add_class::<table::Table>()?;
    module.add_function(wrap_pyfunction!(answer::answer_of, module)?)?;
    module.add_function(wrap_pyfunction!(answer::answers_of, module)?)?;
    module.add_function(wrap_pyfunction!(table::table_of, module)?)?;
    module.add_function(wrap_pyfunction!(compare::compare, module)?)?;
    module.add_function(wrap_pyfunction!(html::comparison_page, module)?)?;
    module.add_function(wrap_pyfunction!(kept_rows::kept_rows, module)?)?;
    module.add_function(wrap_pyfunction!(decontaminated_rows::decontaminated_rows, module)?)?;
    module.add_function(wrap_pyfunction!(merge::merge, module)?)?;
    module.add_function(wrap_pyfunction!(shards::add_up, module)?)?;
    module.add_function(wrap_pyfunction!(shards::shard_step, module)?)?;
    module.add_function(wrap_pyfunction!(compare::sign, module)?)?;
    module.add_function(wrap_pyfunction!(compare::families, module)?)?;
    module.add_function(wrap_pyfunction!(compare::presets, module)?)?;
    Ok(())
}
