//! Elements that end where the outermost of several with the same name ends.

/// The outermost of nested elements of a kind.
pub struct Outermost<T> {
    name: Vec<u8>,
    /// The number of open elements of this name from there on.
    open: usize,
    /// Where the element begins, in a unit of the caller.
    pub from: T,
}

impl<T> Outermost<T> {
    /// Records a start tag. `is_one` means that the tag belongs to the kind.
    pub fn start(element: &mut Option<Outermost<T>>, name: &[u8], is_one: bool, from: T) {
        match element {
            Some(element) => element.open += usize::from(element.name == name),
            None if is_one => *element = Some(Outermost { name: name.to_vec(), open: 1, from }),
            None => {}
        }
    }

    /// Records an end tag.
    pub fn end(element: &mut Option<Outermost<T>>, name: &[u8]) {
        if let Some(found) = element.as_mut().filter(|element| element.name == name) {
            found.open -= 1;
            if found.open == 0 {
                *element = None;
            }
        }
    }
}
