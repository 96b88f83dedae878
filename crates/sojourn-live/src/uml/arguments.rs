//! What a kernel is started with: its configuration, and the options that tell it.

use std::os::fd::RawFd;
use std::path::PathBuf;
use std::time::Duration;

/// Processor features that the C library inside must not use.
const BEYOND_SSE: [&str; 6] =
    ["AVX", "AVX2", "AVX512F", "AVX512VL", "AVX512BW", "AVX_Fast_Unaligned_Load"];
/// First number of the doors' descriptors inside: the same in each run, as programs can read the
/// options.
pub(super) const FIRST_DOOR: RawFd = 900;
/// What each system call of a program costs in ns of the kernel's time: nothing else that programs do
/// takes any, and one that waits by asking again and again would wait for ever.
const COST: u32 = 1000;

/// The program to start.
#[derive(Clone, Debug)]
pub struct Image {
    /// The kernel, a program.
    pub kernel: PathBuf,
    /// Its first process: a program and its arguments.
    pub init: Vec<String>,
}

/// Configuration of a kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// Number of network cards.
    pub cards: usize,
    /// Whether the kernel is notified when a frame has been sent; otherwise a frame counts as sent
    /// when it leaves the kernel, as into a TUN device, and buffers are taken back whenever there
    /// are new ones.
    pub late: bool,
    /// Seed of its random numbers.
    pub seed: u64,
    /// What programs besides the agent ask for, if there are any.
    pub programs: Option<Asked>,
}

/// What the programs of a run ask of their kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// Time of day when the kernel starts, in ns since 1970, if they have one.
    pub date: Option<u64>,
    /// Real time that a turn may take.
    pub longest: Duration,
}

/// Address of a door in the kernel's options, for its calendar (0) and its cards.
fn door(number: usize) -> String {
    format!("/proc/self/fd/{}", FIRST_DOOR as usize + number)
}

/// The options of a kernel, and those of its first process.
pub(super) fn arguments(image: &Image, wanted: Wanted) -> Vec<String> {
    let mut arguments: Vec<String> = [
        if wanted.programs.is_some() { "mem=1024M" } else { "mem=512M" },
        // The kernel writes its process number to a directory; here it cannot leave a file.
        "uml_dir=/proc/",
        "stderr=1",
        if wanted.late { "virtio_net.napi_tx=1" } else { "virtio_net.napi_tx=0" },
        "root=/dev/root",
        "rootfstype=hostfs",
        "rootflags=/",
        "ro",
    ]
    .map(str::to_owned)
    .to_vec();
    match wanted.programs {
        Some(_) => arguments.push(format!("sojourn_cost={COST}")),
        None => {
            // Before 6.12, User-Mode Linux saves a program's registers up to those of SSE (see its
            // copy's changes); where the agent is alone it is the same on all.
            let without: Vec<String> = BEYOND_SSE.iter().map(|name| format!("-{name}")).collect();
            arguments.push(format!("GLIBC_TUNABLES=glibc.cpu.hwcaps={}", without.join(",")));
        }
    }
    arguments.push(format!("time-travel=ext:1:{}", door(0)));
    arguments.extend((1..=wanted.cards).map(|card| format!("virtio_uml.device={}:1", door(card))));
    let (program, rest) = image.init.split_first().unwrap_or((const { &String::new() }, &[]));
    arguments.push(format!("init={program}"));
    arguments.push("--".to_owned());
    arguments.extend(rest.iter().cloned());
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(programs: Option<Asked>) -> Vec<String> {
        let image =
            Image { kernel: "linux".into(), init: vec!["/init".to_owned(), "-x".to_owned()] };
        arguments(&image, Wanted { cards: 2, late: false, seed: 1, programs })
    }

    #[test]
    fn programs_have_memory_and_pay_for_calls() {
        let asked = Asked { date: None, longest: Duration::from_secs(60) };
        let (without, with) = (options(None), options(Some(asked)));
        let has = |options: &[String], start: &str| options.iter().any(|o| o.starts_with(start));
        for (option, programs) in [("mem=1024M", true), ("sojourn_cost=1000", true)]
            .into_iter()
            .chain([("mem=512M", false), ("GLIBC_TUNABLES=", false)])
        {
            assert_eq!(
                (has(&with, option), has(&without, option)),
                (programs, !programs),
                "{option}"
            );
        }
        assert_eq!(with[with.len() - 3..], ["init=/init", "--", "-x"]);
        assert!(has(&without, "virtio_uml.device=/proc/self/fd/902:1"));
        assert!(!has(&without, "virtio_uml.device=/proc/self/fd/903:1"));
    }
}
