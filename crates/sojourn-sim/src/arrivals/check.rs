//! Checks of entries: what each key allows, and which go together.

use std::collections::BTreeSet;

use super::{
    ArrivalKeys, ArrivalsSpec, Connections, Offer, PoolSpec, ProcessSpec, Protocol, Sizes, Times,
};
use crate::error::FieldError;
use crate::registry::same_name;
use crate::spec::limits::{refuse, require, require_label};
use crate::units::Span;

type Check = Result<(), FieldError>;

/// Most entries: flow numbers name an entry by a byte.
const MOST_ENTRIES: usize = 200;
const MOST_USERS: u32 = 100_000;
const MOST_VARIANTS: usize = 1_000;
const MOST_IN_POOL: u32 = 1_000;
const MOST_ARRIVALS: f64 = 1e8;
const LARGEST_LOAD: f64 = 10.0;
const LARGEST_WEIGHT: f64 = 1e9;
const TRANSPORTS: &[&str] = &["tcp", "udp"];

impl ArrivalsSpec {
    /// Refuses transports of which there are no arrivals, before their keys are looked at.
    pub(crate) fn check_transports(&self) -> Check {
        for (field, flow) in self.flows() {
            let kind = &flow.transport.kind;
            let known = TRANSPORTS.iter().any(|name| same_name(kind, name));
            require(known, "transport", kind, &TRANSPORTS.join(", "))
                .map_err(|error| error.within(&field))?;
        }
        Ok(())
    }

    /// Fills in the defaults of the entry's own keys.
    pub(crate) fn resolve(&mut self) {
        let keys = &mut self.keys;
        if keys.process.is_closed() {
            keys.think.get_or_insert(Times::exponential(Span::from_secs(1)));
        }
        if keys.connections == Connections::Pool {
            let pool = keys.pool.get_or_insert_with(PoolSpec::default);
            pool.size = Some(pool.size());
        }
        if keys.request.is_some() {
            keys.server_time.get_or_insert(Times::exponential(Span::ZERO));
        }
    }
}

/// Checks entries, as far as the network has no part in it. The field is from the root.
pub(crate) fn check(entries: &[ArrivalsSpec]) -> Check {
    let fits = entries.len() <= MOST_ENTRIES;
    require(fits, "arrivals", format!("{} entries", entries.len()), "at most 200")?;
    let mut labels = BTreeSet::new();
    for (index, entry) in entries.iter().enumerate() {
        check_label(&entry.keys.label, &mut labels)
            .and_then(|()| check_entry(entry))
            .map_err(|error| error.within(&format!("arrivals.{index}")))?;
    }
    Ok(())
}

fn check_label<'a>(label: &'a str, known: &mut BTreeSet<&'a str>) -> Check {
    require(!label.is_empty(), "label", "\"\"", "at least 1 character")?;
    require_label("label", label)?;
    if known.insert(label) {
        return Ok(());
    }
    Err(FieldError::new("label", format!("'{label}' given twice; give each entry its own")))
}

fn check_entry(entry: &ArrivalsSpec) -> Check {
    let keys = &entry.keys;
    keys.process.validate().map_err(|error| error.within("process"))?;
    check_rate(keys)?;
    check_users(keys)?;
    check_sizes(keys)?;
    check_session(keys)?;
    check_pool(keys)?;
    check_mix(entry)?;
    check_datagrams(entry)
}

/// Exactly one of `rate`, `load` and `users` says how often transfers arrive, if no list does.
fn check_rate(keys: &ArrivalKeys) -> Check {
    let process = keys.process.name();
    let given = [("rate", keys.rate.is_some()), ("load", keys.load.is_some())];
    let given = given.into_iter().find(|(_, given)| *given).map(|(key, _)| key);
    if keys.process.is_closed() || keys.process.listed().is_some() {
        let Some(key) = given else { return Ok(()) };
        let instead = match keys.process.is_closed() {
            true => "whose users make the rate: give users",
            false => "which lists the times",
        };
        return Err(FieldError::new(key, format!("given with process {process}, {instead}")));
    }
    let message = "is missing; give rate, load, or users with process = \"closed\"";
    given.ok_or(FieldError::new("rate", message))?;
    let Some(load) = keys.load else { return Ok(()) };
    if keys.rate.is_some() {
        return Err(FieldError::new("load", format!("{load} given with rate; give one of them")));
    }
    require(load > 0.0 && load <= LARGEST_LOAD, "load", load, "above 0, at most 10")
}

fn check_users(keys: &ArrivalKeys) -> Check {
    if !keys.process.is_closed() {
        let given = [("users", keys.users.is_some()), ("think", keys.think.is_some())];
        let Some((key, _)) = given.into_iter().find(|(_, given)| *given) else { return Ok(()) };
        let message = format!("given with process {}; allowed: closed only", keys.process.name());
        return Err(FieldError::new(key, message));
    }
    let message = "is missing; give the number of users of process closed";
    let users = keys.users.ok_or(FieldError::new("users", message))?;
    require((1..=MOST_USERS).contains(&users), "users", users, "1 to 100000")?;
    check_times("think", keys.think.as_ref())
}

fn check_times(key: &str, times: Option<&Times>) -> Check {
    times.map_or(Ok(()), |times| times.validate().map_err(|error| error.within(key)))
}

fn check_sizes(keys: &ArrivalKeys) -> Check {
    let listed = keys.process.listed().is_some_and(|list| list.size.is_some());
    match (&keys.size, listed) {
        (Some(_), true) => {
            let message = "given as well as the sizes of the file; give one of them";
            return Err(FieldError::new("size", message));
        }
        (None, false) => {
            let message = "is missing; give an amount of data such as \"10 kB\", or a distribution";
            return Err(FieldError::new("size", message));
        }
        _ => {}
    }
    for (key, sizes) in [("size", &keys.size), ("request", &keys.request)] {
        let checked = sizes.as_ref().map_or(Ok(()), Sizes::validate);
        checked.map_err(|error| error.within(key))?;
    }
    if keys.server_time.is_some() && keys.request.is_none() {
        let message = "given without request: a server works when a request has arrived";
        return Err(FieldError::new("server_time", message));
    }
    check_times("server_time", keys.server_time.as_ref())
}

fn check_session(keys: &ArrivalKeys) -> Check {
    let Some(session) = &keys.session else { return Ok(()) };
    let process = keys.process.name();
    let allowed = !matches!(process, "file" | "incast");
    let message = format!("given with process {process}, which gives single transfers");
    allowed.then_some(()).ok_or(FieldError::new("session", message))?;
    session.validate().map_err(|error| error.within("session"))
}

fn check_pool(keys: &ArrivalKeys) -> Check {
    let Some(pool) = &keys.pool else { return Ok(()) };
    if keys.connections == Connections::Each {
        let message = "given with connections each; give connections = \"pool\" as well";
        return Err(FieldError::new("pool", message));
    }
    let size = pool.size();
    match pool.protocol {
        Protocol::Http1 => {
            require((1..=MOST_IN_POOL).contains(&size), "pool.size", size, "1 to 1000")?;
        }
        Protocol::Http2 => require(size == 1, "pool.size", size, "1 with http/2")?,
    }
    require(pool.idle > Span::ZERO, "pool.idle", pool.idle, "above zero")
}

fn check_mix(entry: &ArrivalsSpec) -> Check {
    let variants = entry.variants().len();
    let fits = variants <= MOST_VARIANTS;
    require(fits, "mix", format!("{variants} variants"), "at most 1000")?;
    for (index, (weight, _)) in entry.mix.iter().enumerate() {
        let fits = *weight > 0.0 && *weight <= LARGEST_WEIGHT;
        let field = format!("mix.{index}.weight");
        require(fits, &field, weight, "above 0, at most 1000000000")?;
    }
    let pairs = entry.keys.process.listed().and_then(|list| list.pair.as_ref());
    let beyond = pairs.into_iter().flatten().find(|pair| usize::from(**pair) >= variants);
    let Some(pair) = beyond else { return Ok(()) };
    let message =
        format!("pair {pair} given; the entry has {variants} variants (0 to {})", variants - 1);
    Err(FieldError::new("process.pair", message))
}

/// Datagrams have no connections, and no answers.
fn check_datagrams(entry: &ArrivalsSpec) -> Check {
    let any = entry.flows().iter().any(|(_, flow)| same_name(&flow.transport.kind, "udp"));
    if !any {
        return Ok(());
    }
    if entry.keys.connections == Connections::Pool {
        return refuse("connections", "pool", "each with transport udp");
    }
    let message = "given with transport udp, whose datagrams have no answers";
    let plain = entry.keys.request.is_none();
    plain.then_some(()).ok_or(FieldError::new("request", message))
}

/// Checks what entries offer to the network. The field is from the root.
pub(crate) fn check_offers(entries: &[ArrivalsSpec], offers: &[Offer], duration: Span) -> Check {
    for (index, (entry, offer)) in entries.iter().zip(offers).enumerate() {
        check_offer(entry, offer, duration)
            .map_err(|error| error.within(&format!("arrivals.{index}")))?;
    }
    Ok(())
}

fn check_offer(entry: &ArrivalsSpec, offer: &Offer, duration: Span) -> Check {
    if offer.rate.is_nan() {
        return Ok(());
    }
    if let ProcessSpec::Incast(incast) = &entry.keys.process {
        incast.check(offer.rate).map_err(|error| error.within("process"))?;
    }
    let lasts = entry.flow.stop.unwrap_or(duration) - entry.flow.start;
    let expected = offer.rate * entry.mean_transfers() * lasts.as_secs_f64();
    let key = if entry.keys.load.is_some() { "load" } else { "rate" };
    let given = format!("{expected:.2e} transfers expected, which are too many,");
    require(expected <= MOST_ARRIVALS, key, given, "a value that gives at most 1e8")
}
