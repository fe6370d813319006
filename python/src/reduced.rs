//! The protocol of copying and pickling.

use pyo3::prelude::*;

/// The function that makes a value again, and its arguments: the result of `__reduce__`.
pub type Reduced<'py, T> = (Bound<'py, PyAny>, T);

/// Returns a function of this module, for `__reduce__`.
pub fn function<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("cento._native")?.getattr(name)
}
