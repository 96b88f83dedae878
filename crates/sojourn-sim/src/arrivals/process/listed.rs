//! Listed: arrivals from a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Due, Process};
use crate::arrivals::size::LARGEST;
use crate::error::FieldError;
use crate::spec::limits::{refuse, require};
use crate::units::{Span, Time};

/// Longest list.
const MOST_ROWS: usize = 1_000_000;
/// Latest time in a list, in seconds: as long as the longest run.
const LATEST: f64 = 1e6;

/// Arrivals as listed: one in the same place of each list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Listed {
    /// Times in seconds since `start`; they do not fall. Those from `stop` on are left out.
    pub time: Vec<f64>,
    /// Payloads in bytes. Default: the entry's `size`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Vec<u64>>,
    /// Numbers, from 0, of the entries of `mix`: which pair of hosts, or other keys, each has.
    /// Default: chosen by weight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<Vec<u16>>,
}

impl Listed {
    pub(super) fn validate(&self) -> Result<(), FieldError> {
        let rows = self.time.len();
        let fits = (1..=MOST_ROWS).contains(&rows);
        require(fits, "time", format!("{rows} arrivals"), "1 to 1000000 arrivals")?;
        let known = |time: &f64| (0.0..=LATEST).contains(time);
        if let Some(index) = self.time.iter().position(|time| !known(time)) {
            let given = format!("arrival {index} at {} s", self.time[index]);
            return refuse("time", given, "0 s to 1000000 s");
        }
        if let Some(index) = self.time.windows(2).position(|pair| pair[1] < pair[0]) {
            let given = format!("arrival {} before arrival {index}", index + 1);
            return refuse("time", given, "times that do not fall");
        }
        let lengths = [
            ("size", self.size.as_ref().map(Vec::len)),
            ("pair", self.pair.as_ref().map(Vec::len)),
        ];
        for (key, length) in lengths {
            let length = length.unwrap_or(rows);
            let allowed = format!("{rows}, one for each time");
            require(length == rows, key, format!("{length} values"), &allowed)?;
        }
        let sizes = self.size.iter().flatten();
        let wrong = sizes.copied().find(|size| !(1..=LARGEST).contains(size));
        require(wrong.is_none(), "size", wrong.unwrap_or(0), "1 B to 1 TB")
    }

    /// Mean payload in bytes, if the list gives payloads.
    pub fn mean_size(&self) -> Option<f64> {
        let sizes = self.size.as_ref()?;
        Some(sizes.iter().map(|size| *size as f64).sum::<f64>() / sizes.len() as f64)
    }
}

pub(super) struct Arrivals {
    start: Time,
    list: Listed,
    given: usize,
}

impl Arrivals {
    pub(super) fn new(start: Time, list: Listed) -> Self {
        Arrivals { start, list, given: 0 }
    }
}

impl Process for Arrivals {
    fn next(&mut self, _now: Time) -> Option<Due> {
        let index = self.given;
        let time = self.list.time.get(index)?;
        self.given += 1;
        Some(Due {
            at: self.start + Span::from_secs_f64(*time),
            size: self.list.size.as_ref().map(|sizes| sizes[index]),
            variant: self.list.pair.as_ref().map(|pairs| pairs[index]),
            group: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::arrivals::Draws;
    use crate::arrivals::testing::entry;

    #[test]
    fn arrivals_are_as_listed_from_start_to_stop() {
        let (time, size, pair) = ([0.0, 0.5, 0.5, 3.0], [1, 2, 3, 4], [0, 1, 0, 1]);
        let file = json!({ "kind": "file", "time": time, "size": size, "pair": pair });
        let mut entry = entry(json!({ "process": file }));
        entry.flow.start = Span::from_secs(1);
        entry.flow.stop = Some(Span::from_secs(4));
        let mut process = entry.process(f64::NAN, Draws::new(1, "a")).unwrap();
        let mut next = || process.next(Time::ZERO).map(|due| (due.at, due.size, due.variant));
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        assert_eq!(next(), Some((at(1_000), Some(1), Some(0))));
        assert_eq!(next(), Some((at(1_500), Some(2), Some(1))));
        assert_eq!(next(), Some((at(1_500), Some(3), Some(0))));
        assert_eq!(next(), None);
    }

    #[test]
    fn lists_that_do_not_fit_are_refused() {
        let list = |time: &[f64], size: &[u64]| Listed {
            time: time.to_vec(),
            size: Some(size.to_vec()),
            pair: None,
        };
        let refused = |list: Listed| list.validate().unwrap_err().to_string();
        assert_eq!(
            refused(list(&[0.0, 2.0, 1.0], &[1; 3])),
            "time: arrival 2 before arrival 1 given; allowed: times that do not fall"
        );
        assert_eq!(
            refused(list(&[0.0, 2.0], &[1])),
            "size: 1 values given; allowed: 2, one for each time"
        );
        assert!(refused(list(&[0.0], &[0])).starts_with("size: 0 given; allowed: 1 B to 1 TB"));
        assert!(refused(list(&[-1.0], &[1])).starts_with("time: arrival 0 at -1 s given"));
        assert!(refused(list(&[], &[])).starts_with("time: 0 arrivals given"));
        assert_eq!(list(&[0.0, 1.0], &[10, 30]).validate(), Ok(()));
        assert_eq!(list(&[0.0, 1.0], &[10, 30]).mean_size(), Some(20.0));
    }
}
