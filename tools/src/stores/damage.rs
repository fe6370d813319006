//! Checks that cento notices damaged answers and servers that ignore conditions.

use cento::index::Index;

use super::Stores;
use super::relay::{DAMAGES, Damage, Mode, Relay};
use crate::Result;

impl Stores {
    fn relay(&self) -> Result<Relay> {
        let endpoint = std::env::var("AWS_ENDPOINT");
        Relay::start(&endpoint.map_err(|_| "this needs a server at AWS_ENDPOINT, over http")?)
    }

    /// Damages the answer for every object that a pull reads, in every way.
    pub(super) fn damage(&self) -> Result {
        let ids: Vec<String> = (0..50).map(|number| number.to_string()).collect();
        self.add("all", &ids)?;
        self.must(&["store", "push", "all", &self.url])?;
        let relay = self.relay()?;
        let through = |args: &[&str]| -> Result<(bool, String)> {
            let output = self.command(args).env("AWS_ENDPOINT", relay.endpoint()).output()?;
            Ok((output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned()))
        };
        let pull = ["store", "pull", &self.url, "copy"];
        let copy = self.work.join("copy");
        let (is_good, said) = through(&pull)?;
        if !is_good {
            return Err(format!("the relay does not work: {said}").into());
        }
        std::fs::remove_dir_all(&copy)?;
        let objects = relay.take_read();
        let (mut noticed, mut survived) = (0, 0);
        for object in &objects {
            for damage in DAMAGES {
                relay.set(Mode::Damaged(object.clone(), damage));
                let (is_good, said) = through(&pull)?;
                let name = object.rsplit('/').next().unwrap_or(object);
                let is_named = said.contains(name) || said.contains("there is no index here");
                let is_named = is_named || said.contains("there is no manifest");
                match (is_good, damage) {
                    // The command retries after a broken connection.
                    (true, Damage::CutOff) => survived += 1,
                    (false, _) if is_named && !Index::exists(&copy) => noticed += 1,
                    _ => return Err(format!("{object}, {damage:?}: {is_good}, {said}").into()),
                }
                relay.set(Mode::Faithful);
                self.must(&pull)?;
                super::check(&copy, &[&ids.iter().cloned().collect()])?;
                std::fs::remove_dir_all(&copy)?;
            }
        }
        println!(
            "{} objects, each missing, flipped, cut to half, longer, and broken off once: \
             {noticed} damages were noticed and named, {survived} broken connections survived; \
             every repetition succeeded",
            objects.len()
        );
        Ok(())
    }

    pub(super) fn conditions(&self) -> Result {
        self.add("all", &["first".into()])?;
        let relay = self.relay()?;
        relay.set(Mode::Unconditional);
        let refused = |when: &str| -> Result {
            let mut push = self.command(&["store", "push", "all", &self.url]);
            let output = push.env("AWS_ENDPOINT", relay.endpoint()).output()?;
            let said = String::from_utf8_lossy(&output.stderr);
            match !output.status.success() && said.contains("conditional writes") {
                true => Ok(()),
                false => Err(format!("{when}: a store without conditions is taken: {said}").into()),
            }
        };
        refused("the first push")?;
        relay.set(Mode::Faithful);
        self.must(&["store", "push", "all", &self.url])?;
        self.add("all", &["second".into()])?;
        relay.set(Mode::Unconditional);
        refused("the second push")?;
        println!("a server without conditions is refused, by the first push and by a later one");
        Ok(())
    }
}
