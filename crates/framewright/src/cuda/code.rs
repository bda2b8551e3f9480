//! Code for GPUs as files hold it: which GPU each is for, and which of several a device takes.

/// A file, by its own head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Code {
    /// PTX text, which the driver compiles for its device.
    Ptx {
        /// 75 for `sm_75`: what devices from this compute capability on take.
        sm: u32,
        /// Only devices of just this one take it (`sm_90a`).
        only: bool,
    },
    /// Machine code: for devices of the same major compute capability and not less.
    Cubin {
        /// As above.
        sm: u32,
    },
}

impl Code {
    /// Reads the head; `None` for what is neither.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(b"\x7fELF") {
            let flags = u32::from_le_bytes(bytes.get(48..52)?.try_into().ok()?);
            // The version of the ABI says where the number stands: CUDA 13 moved it.
            let sm = if *bytes.get(8)? >= 8 { flags >> 8 & 0xff } else { flags & 0xff };
            return Some(Self::Cubin { sm });
        }
        let text = bytes.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(b".target sm_"))?;
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let sm = std::str::from_utf8(&text[..digits]).ok()?.parse().ok()?;
        Some(Self::Ptx { sm, only: matches!(text.get(digits), Some(b'a' | b'f')) })
    }

    pub(super) fn sm(self) -> u32 {
        match self {
            Self::Ptx { sm, .. } | Self::Cubin { sm } => sm,
        }
    }

    /// Whether a device of compute capability `sm` takes it.
    fn runs_on(self, device: u32) -> bool {
        match self {
            Self::Ptx { sm, only: true } => sm == device,
            Self::Ptx { sm, only: false } => sm <= device,
            Self::Cubin { sm } => sm / 10 == device / 10 && sm <= device,
        }
    }
}

/// The files that a device of this compute capability takes, the best first: machine code, then PTX, each from the newest.
pub(super) fn candidates(files: &[&'static [u8]], (major, minor): (u32, u32)) -> Vec<&'static [u8]> {
    let device = major * 10 + minor;
    let codes = files.iter().filter_map(|file| Some((Code::of(file)?, *file)));
    let mut runnable: Vec<_> = codes.filter(|(code, _)| code.runs_on(device)).collect();
    runnable.sort_by_key(|(code, _)| (matches!(code, Code::Ptx { .. }), std::cmp::Reverse(code.sm())));
    runnable.into_iter().map(|(_, file)| file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SM75: &[u8] = b"// head\n.version 7.4\n.target sm_75\n.address_size 64\n\0";
    const SM90: &[u8] = b".version 7.8\n.target sm_90, debug\n\0";
    const SM90A: &[u8] = b".version 8.0\n.target sm_90a\n\0";
    const SM120: &[u8] = b".version 8.7\n.target sm_120\n\0";

    /// The head of a cubin, with the number where this version of the ABI has it.
    const fn cubin(abi: u8, sm: u8) -> [u8; 64] {
        let mut bytes = [0; 64];
        (bytes[0], bytes[1], bytes[2], bytes[3], bytes[8]) = (0x7f, b'E', b'L', b'F', abi);
        if abi >= 8 {
            (bytes[48], bytes[49], bytes[51]) = (4, sm, 6);
        } else {
            (bytes[48], bytes[49], bytes[50]) = (sm, 5, sm);
        }
        bytes
    }
    const CUBIN80: &[u8] = &cubin(7, 80);
    const CUBIN90: &[u8] = &cubin(8, 90);

    #[test]
    fn heads_are_read() {
        assert_eq!(Code::of(SM75), Some(Code::Ptx { sm: 75, only: false }));
        assert_eq!(Code::of(SM90), Some(Code::Ptx { sm: 90, only: false }));
        assert_eq!(Code::of(SM90A), Some(Code::Ptx { sm: 90, only: true }));
        assert_eq!(Code::of(SM120), Some(Code::Ptx { sm: 120, only: false }));
        assert_eq!(Code::of(CUBIN80), Some(Code::Cubin { sm: 80 }));
        assert_eq!(Code::of(CUBIN90), Some(Code::Cubin { sm: 90 }));
        assert_eq!([Code::of(b""), Code::of(b"\x7fELF"), Code::of(b".version 7.4\n\0")], [None; 3]);
    }

    #[test]
    fn the_best_that_a_device_takes_comes_first() {
        let files = [SM75, CUBIN80, SM90, CUBIN90, SM90A, SM120];
        let of = |device| candidates(&files, device);
        assert_eq!(of((7, 0)), [] as [&[u8]; 0]);
        assert_eq!(of((7, 5)), [SM75]);
        assert_eq!(of((8, 6)), [CUBIN80, SM75]);
        // Of two for the same, as they were given.
        assert_eq!(of((9, 0)), [CUBIN90, SM90, SM90A, SM75]);
        assert_eq!(of((10, 0)), [SM90, SM75]);
        assert_eq!(of((12, 1)), [SM120, SM90, SM75]);
    }
}
