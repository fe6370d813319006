//! Measurement of the work of a parser.
//!
//! tree-sitter asks after every hundred of its steps whether to continue, but does not report the
//! depth of its stack. Its work at the end of a text is a single step, which follows and copies all
//! ways through the stack, and errors make as many ways as the stack has places. This module
//! therefore counts the places of the stack and all bytes ever requested, which together measure
//! all work. Both numbers are the same on every machine with the same size of pointers.
//!
//! The memory functions that tree-sitter calls are set for the whole process. They forward every
//! call to the C library, which tree-sitter used before, and count only on a thread that parses.

#![expect(unsafe_code, reason = "tree-sitter takes functions of C for its memory")]

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::ffi::c_void;
use std::sync::Once;

use libc::size_t;
use tree_sitter::{Allocator, set_allocator};

/// The resources that the parser of this thread has used since [`Meter::begin`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ParserUse {
    /// Places of the stack that are in use, or kept for use.
    pub places: usize,
    /// The sum of all requested bytes, including released bytes.
    pub bytes: u64,
}

/// Counts the resources that the parser of this thread uses, until the meter is dropped.
#[derive(Debug)]
pub struct Meter(());

thread_local! {
    static IS_ON: Cell<bool> = const { Cell::new(false) };
    static BYTES: Cell<u64> = const { Cell::new(0) };
    static PLACES: RefCell<HashSet<usize>> = RefCell::default();
}

impl Meter {
    /// Starts at 0. A thread can have only one meter at a time.
    pub fn begin() -> Meter {
        static SET: Once = Once::new();
        SET.call_once(|| {
            let allocator = Allocator {
                malloc: allocate,
                calloc: allocate_zeroed,
                realloc: resize,
                free: release,
            };
            // SAFETY: the functions call the C library, as tree-sitter did before if a host also
            // uses it. Each side can therefore release memory of the other side. The functions
            // never return null. No parser of cento exists yet.
            unsafe { set_allocator(Some(allocator)) };
        });
        PLACES.with_borrow_mut(HashSet::clear);
        BYTES.set(0);
        IS_ON.set(true);
        Meter(())
    }

    /// Returns the resources used so far.
    pub fn taken(&self) -> ParserUse {
        ParserUse { places: PLACES.with_borrow(HashSet::len), bytes: BYTES.get() }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        IS_ON.set(false);
    }
}

/// A link of the stack, as tree-sitter's stack.c defines it.
#[repr(C)]
struct StackLink {
    node: *mut c_void,
    subtree: *mut c_void,
    is_pending: bool,
}

/// A place of the stack, as tree-sitter's stack.c defines it. Only its size matters, which
/// identifies a place. A node of the tree may have the same size by chance, and then counts too.
#[repr(C)]
struct StackNode {
    state: u16,
    position: [u32; 3],
    links: [StackLink; 8],
    link_count: u16,
    ref_count: u32,
    error_cost: u32,
    node_count: u32,
    dynamic_precedence: i32,
}

fn is_on() -> bool {
    // Unlike `with`, `try_with` also works while the thread ends.
    IS_ON.try_with(Cell::get).unwrap_or(false)
}

fn count(bytes: usize) {
    BYTES.set(BYTES.get() + bytes as u64);
}

/// Returns `memory` from the C library. Aborts if it is null and any `bytes` were requested.
fn checked(memory: *mut c_void, bytes: usize) -> *mut c_void {
    if memory.is_null() && bytes > 0 {
        // tree-sitter aborts by default too, because neither it nor its caller can continue.
        std::process::abort();
    }
    memory
}

unsafe extern "C" fn allocate(bytes: size_t) -> *mut c_void {
    // SAFETY: any size may be requested.
    let memory = checked(unsafe { libc::malloc(bytes) }, bytes);
    if is_on() {
        count(bytes);
        if bytes == size_of::<StackNode>() {
            PLACES.with_borrow_mut(|places| places.insert(memory.addr()));
        }
    }
    memory
}

unsafe extern "C" fn allocate_zeroed(number: size_t, bytes: size_t) -> *mut c_void {
    let all = number.saturating_mul(bytes);
    if is_on() {
        count(all);
    }
    // SAFETY: any size may be requested.
    checked(unsafe { libc::calloc(number, bytes) }, all)
}

unsafe extern "C" fn resize(memory: *mut c_void, bytes: size_t) -> *mut c_void {
    if is_on() {
        count(bytes);
        PLACES.with_borrow_mut(|places| places.remove(&memory.addr()));
    }
    // SAFETY: the memory is null or comes from the C library, as the caller promises.
    checked(unsafe { libc::realloc(memory, bytes) }, bytes)
}

unsafe extern "C" fn release(memory: *mut c_void) {
    if is_on() {
        PLACES.with_borrow_mut(|places| places.remove(&memory.addr()));
    }
    // SAFETY: the memory is null or comes from the C library, as the caller promises.
    unsafe { libc::free(memory) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::ControlFlow;
    use tree_sitter::{ParseOptions, Parser};

    /// Returns the maximum number of places of the stack while a text is parsed.
    fn most_places(text: &str) -> usize {
        let meter = Meter::begin();
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_c::LANGUAGE.into()).unwrap();
        let mut most = 0;
        let mut progress = |_: &_| {
            most = most.max(meter.taken().places);
            ControlFlow::Continue(())
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let mut read = |at: usize, _| text.as_bytes().get(at..).unwrap_or_default();
        assert!(parser.parse_with_options(&mut read, None, Some(options)).is_some());
        assert!(meter.taken().bytes > text.len() as u64);
        most
    }

    /// Fails if a version of tree-sitter lays out its stack differently.
    #[test]
    fn the_places_of_the_stack_are_counted() {
        let nested = most_places(&"x = ".repeat(1_000));
        assert!((1_900..4_000).contains(&nested), "{nested} places");
        let flat = most_places(&"x = 1;\n".repeat(1_000));
        assert!(flat < 200, "{flat} places");
    }

    #[test]
    fn nothing_is_counted_without_a_meter() {
        drop(Meter::begin());
        let mut parser = Parser::new();
        parser.set_language(&tree_sitter_c::LANGUAGE.into()).unwrap();
        assert!(parser.parse("int x;", None).is_some());
        assert_eq!(Meter(()).taken(), ParserUse::default());
    }
}
