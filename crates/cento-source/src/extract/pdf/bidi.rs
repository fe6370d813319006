//! Reading order of text from right to left.
//!
//! A page has letters in visual order. A simple rule restores the reading order: consecutive
//! letters against the main direction of a line form a run, and every run is reversed.

/// Returns the pieces of a line, given from the left to the right, in reading order.
pub fn read_order(mut pieces: Vec<&str>) -> Vec<&str> {
    let count = |is: fn(&str) -> bool| pieces.iter().filter(|piece| is(piece)).count();
    let is_letter = |piece: &str| is_rightward(piece) && piece.chars().any(char::is_alphabetic);
    let (leftward, rightward) = (count(is_leftward), count(is_letter));
    if leftward == 0 {
        return pieces;
    }
    let is_turned = leftward >= rightward;
    if is_turned {
        pieces.reverse();
    }
    let own = |piece: &str| if is_turned { is_leftward(piece) } else { is_rightward(piece) };
    let other = |piece: &str| if is_turned { is_rightward(piece) } else { is_leftward(piece) };
    let mut start = None;
    for at in 0..=pieces.len() {
        let is_other = pieces.get(at).is_some_and(|piece| other(piece));
        let ends = pieces.get(at).is_none_or(|piece| own(piece));
        match start {
            None if is_other => start = Some(at),
            Some(first) if ends => {
                let last = pieces[first..at].iter().rposition(|piece| other(piece));
                pieces[first..=first + last.unwrap_or(0)].reverse();
                start = None;
            }
            _ => {}
        }
    }
    pieces
}

/// Returns whether most of a text goes from the right to the left.
pub fn is_leftward_text(text: &str) -> bool {
    let count = |is: fn(char) -> bool| text.chars().filter(|&c| is(c)).count();
    count(is_leftward_letter) * 2 > count(char::is_alphabetic)
}

fn is_leftward(piece: &str) -> bool {
    piece.chars().any(is_leftward_letter)
}

/// Digits count as rightward, because numbers go from left to right in all scripts.
fn is_rightward(piece: &str) -> bool {
    piece.chars().any(|c| c.is_alphanumeric() && !is_leftward_letter(c))
}

/// Returns whether a letter belongs to Hebrew, Arabic or a related script.
fn is_leftward_letter(letter: char) -> bool {
    let is_digit = matches!(letter, '\u{660}'..='\u{669}' | '\u{6f0}'..='\u{6f9}');
    matches!(letter, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
        && !is_digit
}
