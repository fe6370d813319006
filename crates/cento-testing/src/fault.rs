//! Ways to make cento fail.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};

use cento::runtime::{Faults, Point};

/// Panics that are meant are not shown.
pub fn silence() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let shown = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let payload = info.payload();
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
            if !text.is_some_and(|text| text.contains("poison")) {
                shown(info);
            }
        }));
    });
}

/// Panics at `point` for documents whose id begins with `poison`.
pub fn poison_at(poisoned: Point) -> Faults {
    Faults::new(move |point, id| {
        assert!(!(point == poisoned && id.starts_with("poison")), "poison with private text");
        Ok(())
    })
}

/// Makes committed files impossible to open while the flag is set.
pub fn unopenable(panics: bool) -> (Arc<AtomicBool>, Faults) {
    let flag = Arc::new(AtomicBool::new(false));
    let is_set = flag.clone();
    let faults = Faults::new(move |point, _| {
        let is_open = matches!(point, Point::OpenCommitted | Point::Publish);
        if !is_open || !is_set.load(Ordering::Relaxed) {
            return Ok(());
        }
        assert!(!panics, "poison");
        Err(io::Error::other("too many open files"))
    });
    (flag, faults)
}
