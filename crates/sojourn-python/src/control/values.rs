//! Arguments and decisions of a control written in Python, as Python objects. Times and spans are
//! in seconds, rates in bits per second.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// One of a few words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word(pub &'static str);

const WORDS: [&str; 12] = [
    "open",
    "disorder",
    "cwr",
    "recovery",
    "loss",
    "ecn",
    "rto",
    "reduction_end",
    "recovered",
    "tx_start",
    "restart",
    "undo",
];

impl<'py> IntoPyObject<'py> for Word {
    type Target = PyString;
    type Output = Bound<'py, PyString>;
    type Error = std::convert::Infallible;

    fn into_pyobject(self, py: Python<'py>) -> Result<Self::Output, Self::Error> {
        Ok(PyString::intern(py, self.0))
    }
}

impl FromPyObject<'_, '_> for Word {
    type Error = PyErr;

    fn extract(obj: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let text: String = obj.extract()?;
        let known = WORDS.iter().find(|word| **word == text);
        known.map(|word| Word(word)).ok_or_else(|| {
            PyValueError::new_err(format!("{text:?} given; expected one of {}", WORDS.join(", ")))
        })
    }
}

/// Declares a class whose fields Python reads, and which tests construct with some of them.
macro_rules! told {
    ($(#[$meta:meta])* $type:ident {
        $($(#[$doc:meta])* $field:ident: $kind:ty = $default:expr),* $(,)?
    }) => {
        $(#[$meta])*
        #[pyclass(frozen, get_all, from_py_object, module = "sojourn.cca")]
        #[derive(Clone, Debug)]
        pub struct $type {
            $($(#[$doc])* pub $field: $kind),*
        }

        #[pymethods]
        impl $type {
            #[new]
            #[pyo3(signature = (*, $($field = $default),*))]
            #[allow(clippy::too_many_arguments)]
            pub(super) fn new($($field: $kind),*) -> Self {
                $type { $($field),* }
            }

            fn __repr__(&self) -> String {
                format!("{self:?}")
            }
        }
    };
}

told! {
    /// Parameters of the connection that a control is created for.
    Init {
        /// Initial window in segments.
        initial_window: u32 = 10,
        /// Payload bytes of a full segment.
        mss: u32 = 1448,
        /// IP packet size of a full segment in bytes.
        packet_size: u32 = 1500,
        /// When the connection is created, in seconds.
        now: f64 = 0.0,
        /// Whether the sender paces all controls (host queue `fq`).
        paced: bool = false,
        /// Seed of the control's random draws: `random.Random(init.seed)`.
        seed: u64 = 1,
    }
}

told! {
    /// A delivery-rate sample (Linux `struct rate_sample`).
    RateSample {
        /// Segments delivered over `interval`; `None` when no valid sample could be taken.
        delivered: Option<u32> = None,
        /// Length of the interval in seconds: the longer of its send and its ACK phase.
        interval: f64 = 0.0,
        /// The sender's `delivered` count when the sampled segment was sent.
        prior_delivered: u64 = 0,
        /// The sender's `delivered_ce` count when the sampled segment was sent.
        prior_delivered_ce: u64 = 0,
        /// The sender's `lost` count when the sampled segment was sent.
        prior_lost: u64 = 0,
        /// Segments in flight when the sampled segment was sent (it included).
        tx_in_flight: u32 = 0,
        /// Whether the sample was limited by the application.
        app_limited: bool = false,
        /// Whether the sampled segment had been retransmitted.
        retransmitted: bool = false,
    }
}

told! {
    /// All that the sender measured on one arriving ACK, after loss detection has run on it.
    Ack {
        /// Recovery state after this ACK: open, disorder, cwr, recovery or loss.
        state: Word = Word("open"),
        /// Whether this ACK may raise the window: new data, and no window reduction under way.
        may_grow: bool = true,
        /// Whether the window was what limited sending in the last round.
        cwnd_limited: bool = true,
        /// Segments newly acknowledged or SACKed by this ACK.
        acked: u32 = 1,
        /// Segments that the cumulative acknowledgment covers newly (SACKed before or not).
        cum_acked: u32 = 1,
        /// Segments newly marked lost on this ACK.
        lost: u32 = 0,
        /// This ACK's RTT sample from a segment sent once, in seconds, if it gave one.
        rtt: Option<f64> = None,
        /// Smoothed RTT in seconds; zero before the first sample.
        srtt: f64 = 0.0,
        /// Minimum RTT over the sender's window (5 minutes); infinite before the first sample.
        min_rtt: f64 = f64::INFINITY,
        /// Segments in flight before this ACK.
        prior_in_flight: u32 = 0,
        /// Segments in flight after this ACK.
        in_flight: u32 = 0,
        /// First segment not yet cumulatively acknowledged.
        una: u32 = 0,
        /// Next segment that will be sent for the first time.
        next: u32 = 0,
        /// Segments delivered since the connection began.
        delivered: u64 = 0,
        /// Of those, segments known to have been CE-marked.
        delivered_ce: u64 = 0,
        /// Segments marked lost since the connection began.
        total_lost: u64 = 0,
        /// Whether the ACK carries ECN echo.
        ece: bool = false,
        /// Whether the ACK carries SCE echo.
        esce: bool = false,
        /// Whether the sender had nothing more to send at some point of the last round.
        app_limited: bool = false,
        /// Whether the ACK answers a single segment late, as far as known.
        ack_delayed: bool = false,
        /// The delivery-rate sample.
        rate: RateSample = RateSample::new(None, 0.0, 0, 0, 0, 0, false, false),
    }
}

told! {
    /// An event of the connection other than a plain ACK. Fields that a kind of event does not have
    /// are `None`.
    Event {
        /// Its kind: `loss`, `ecn`, `rto`, `reduction_end`, `recovered`, `tx_start` or `restart`.
        kind: Word = Word("loss"),
        /// Segments in flight (loss, ecn, rto).
        in_flight: Option<u32> = None,
        /// The window that the sender arrived at (`reduction_end`) or prescribes (rto, restart).
        cwnd: Option<u32> = None,
        /// The threshold that the stack prescribes (restart).
        ssthresh: Option<u32> = None,
        /// Whether to choose a new threshold: true for the first timeout of an episode (rto).
        reduce: Option<bool> = None,
        /// Seconds since the last data was sent (`tx_start`).
        idle: Option<f64> = None,
    }
}

told! {
    /// A segment at the time of its (re)transmission.
    Sent {
        /// Segment number.
        seq: u32 = 0,
        /// Segments in flight, this one included.
        in_flight: u32 = 1,
        /// Whether it was sent before.
        retransmission: bool = false,
    }
}

told! {
    /// A segment that has just been marked lost.
    Lost {
        /// Segment number.
        seq: u32 = 0,
        /// Segments in flight when it was last sent (it included).
        tx_in_flight: u32 = 1,
        /// The sender's `delivered` count when it was last sent.
        prior_delivered: u64 = 0,
        /// The sender's `lost` count when it was last sent.
        prior_lost: u64 = 0,
        /// Segments marked lost since the connection began, this one included.
        total_lost: u64 = 1,
        /// Whether it was sent in an application-limited phase.
        app_limited: bool = false,
    }
}

/// A control's decision. Fractions of segments and of bits per second are cut off.
#[pyclass(frozen, get_all, module = "sojourn.cca")]
#[derive(Debug)]
pub struct Decision {
    /// Congestion window in segments, at least 1.
    pub cwnd: f64,
    /// Slow-start threshold in segments; infinite for none.
    pub ssthresh: f64,
    /// Pacing rate in bits of payload per second; `None` leaves pacing to the sender.
    pub pacing_rate: Option<f64>,
    /// Segments to send back to back; `None` leaves it to the sender.
    pub burst: Option<f64>,
    /// Whether the control sets the window in recovery itself instead of the sender's proportional
    /// rate reduction.
    pub owns_recovery: bool,
}

#[pymethods]
impl Decision {
    #[new]
    #[pyo3(signature = (cwnd, ssthresh, pacing_rate=None, burst=None, owns_recovery=false))]
    fn new(
        cwnd: f64,
        ssthresh: f64,
        pacing_rate: Option<f64>,
        burst: Option<f64>,
        owns_recovery: bool,
    ) -> Self {
        Decision { cwnd, ssthresh, pacing_rate, burst, owns_recovery }
    }

    fn __repr__(&self) -> String {
        format!("{self:?}")
    }
}
