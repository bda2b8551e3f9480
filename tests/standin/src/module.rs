//! Modules: entries and globals by name, read from PTX text.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_void};

use crate::call::{api, put, put_if};
use crate::code::{Answer, Code};
use crate::state::lock;

/// The newest `.target` that a device of compute capability 9.0 takes.
const NEWEST_TARGET: u32 = 90;

/// A loaded module.
pub(crate) struct Module {
    pub(crate) context: u64,
    entries: Vec<String>,
    /// Device memory of the globals: address and bytes.
    globals: BTreeMap<String, (u64, usize)>,
}

impl Module {
    /// How many allocations its globals are.
    pub(crate) fn globals(&self) -> u64 {
        self.globals.len() as u64
    }
}

/// What a PTX text declares.
#[derive(Debug, Default, PartialEq)]
struct Ptx {
    entries: Vec<String>,
    /// Initialised integers and byte arrays.
    globals: Vec<(String, Vec<u8>)>,
}

fn parse(text: &str) -> Result<Ptx, Code> {
    let text: String = text.lines().map(|line| line.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n");
    let after = |directive: &str| {
        let at = text.find(directive).ok_or(Code::INVALID_PTX)?;
        text[at + directive.len()..].split_whitespace().next().ok_or(Code::INVALID_PTX)
    };
    after(".version ")?;
    let target = after(".target ")?.strip_prefix("sm_").ok_or(Code::INVALID_PTX)?;
    let digits = target.find(|c: char| !c.is_ascii_digit()).unwrap_or(target.len());
    if target[..digits].parse::<u32>().map_err(|_| Code::INVALID_PTX)? > NEWEST_TARGET {
        return Err(Code::NO_BINARY_FOR_GPU);
    }
    let mut ptx = Ptx::default();
    for part in text.split(".entry ").skip(1) {
        let name = part.split('(').next().ok_or(Code::INVALID_PTX)?.trim();
        ptx.entries.push(name.to_owned());
    }
    for statement in text.split(".global ").skip(1) {
        let statement = statement.split(';').next().unwrap_or("");
        if let Some(global) = statement.split_once('=').and_then(|(left, right)| global(left, right)) {
            ptx.globals.push(global);
        }
    }
    Ok(ptx)
}

/// `.align 8 .u64 NAME` and `123`, or `.align 8 .b8 NAME[8]` and `{1, 2, …}`.
fn global(left: &str, right: &str) -> Option<(String, Vec<u8>)> {
    let words: Vec<&str> = left.split_whitespace().collect();
    let kind = words.iter().rev().find(|word| word.starts_with(['.']))?;
    let size: usize = kind.trim_start_matches(['.', 'b', 'u', 's']).parse::<usize>().ok()? / 8;
    let name = words.last()?.split('[').next()?;
    let values = right.trim().trim_start_matches('{').trim_end_matches('}');
    let mut bytes = Vec::new();
    for value in values.split(',') {
        let value = value.trim();
        let number = match value.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).ok()?,
            None => value.parse::<u64>().ok().or_else(|| value.parse::<i64>().ok().map(|v| v as u64))?,
        };
        bytes.extend_from_slice(number.to_le_bytes().get(..size)?);
    }
    Some((name.to_owned(), bytes))
}

/// # Safety
///
/// `image` is null or points to a PTX text with a terminator, or to another image with at least four bytes.
unsafe fn load(context: u64, module: *mut u64, image: *const c_void) -> Answer {
    if image.is_null() || module.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    // SAFETY: not null, so an image by this function's contract; none has a zero among its first bytes but an empty text.
    let text = unsafe { CStr::from_ptr(image.cast()) };
    if text.to_bytes().starts_with(b"\x7fELF") {
        return Err(Code::NO_BINARY_FOR_GPU);
    }
    let Ptx { entries, globals } = parse(text.to_str().map_err(|_| Code::INVALID_IMAGE)?)?;
    let mut state = lock();
    let mut placed = BTreeMap::new();
    for (name, bytes) in globals {
        let base = state.arena.allocate(bytes.len(), context)?;
        state.arena.open();
        // SAFETY: the allocation is new, has this size, and is open.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), base as *mut u8, bytes.len()) };
        state.arena.close();
        placed.insert(name, (base, bytes.len()));
    }
    let handle = state.handle();
    state.modules.insert(handle, Module { context, entries, globals: placed });
    // SAFETY: not null, and the caller keeps the driver's contract: memory for one handle.
    unsafe { put(module, handle) }
}

/// # Safety
///
/// `name` is null or a terminated string.
unsafe fn string<'a>(name: *const c_char) -> Result<&'a str, Code> {
    if name.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    // SAFETY: not null, so a terminated string by this function's contract.
    unsafe { CStr::from_ptr(name) }.to_str().map_err(|_| Code::NOT_FOUND)
}

api! {
    Context fn cuModuleLoadData(module: *mut u64, image: *const c_void) |context| {
        // SAFETY: the caller keeps the driver's contract: null or an image.
        unsafe { load(context, module, image) }
    }

    /// The options say how to compile, and nothing is compiled.
    Context fn cuModuleLoadDataEx(
        module: *mut u64, image: *const c_void, _count: u32, _options: *mut u32, _values: *mut *mut c_void,
    ) |context| {
        // SAFETY: the caller keeps the driver's contract: null or an image.
        unsafe { load(context, module, image) }
    }

    Context fn cuModuleUnload(module: u64) |context| {
        let mut state = crate::queue::run_context(lock(), Some(context));
        let Module { globals, .. } = state.modules.remove(&module).ok_or(Code::INVALID_HANDLE)?;
        state.functions.retain(|_, (of, _)| *of != module);
        globals.values().try_for_each(|&(base, _)| state.arena.free(base))
    }

    Context fn cuModuleGetLoadingMode(mode: *mut u32) |_| {
        // SAFETY: the caller keeps the driver's contract: null or memory for one int. 2: lazy.
        unsafe { put(mode, 2) }
    }

    Context fn cuModuleGetFunction(function: *mut u64, module: u64, name: *const c_char) |_| {
        // SAFETY: the caller keeps the driver's contract: null or a terminated string.
        let name = unsafe { string(name)? };
        let mut state = lock();
        let found = state.modules.get(&module).ok_or(Code::INVALID_HANDLE)?;
        if !found.entries.iter().any(|entry| entry == name) {
            return Err(Code::NOT_FOUND);
        }
        let known = state.functions.iter().find(|(_, (of, entry))| *of == module && entry == name);
        let handle = match known {
            Some((&handle, _)) => handle,
            None => {
                let handle = state.handle();
                state.functions.insert(handle, (module, name.to_owned()));
                handle
            }
        };
        // SAFETY: the caller keeps the driver's contract: null or memory for one handle.
        unsafe { put(function, handle) }
    }

    Context fn cuModuleGetGlobal_v2(pointer: *mut u64, bytes: *mut usize, module: u64, name: *const c_char) |_| {
        // SAFETY: the caller keeps the driver's contract: null or a terminated string.
        let name = unsafe { string(name)? };
        let state = lock();
        let found = state.modules.get(&module).ok_or(Code::INVALID_HANDLE)?;
        let &(base, size) = found.globals.get(name).ok_or(Code::NOT_FOUND)?;
        // SAFETY: the caller keeps the driver's contract: null or memory for an address and a size.
        unsafe { put_if(pointer, base) };
        // SAFETY: as above.
        unsafe { put_if(bytes, size) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ptx() {
        let text = "// .entry no()\n.version 7.0\n.target sm_75, debug\n.visible .entry one(\n.param .u64 p\n)\n{ret;}\n\
                    .entry two ()\n{}\n.visible .global .align 8 .u64 one_PARAMS_HASH = 513;\n\
                    .global .align 2 .b8 bytes[3] = {1, 2, 0xff};\n.global .align 4 .u32 later;\n";
        let found = parse(text).expect("a PTX text");
        assert_eq!(found.entries, ["one", "two"]);
        let hash = ("one_PARAMS_HASH".to_owned(), vec![1, 2, 0, 0, 0, 0, 0, 0]);
        assert_eq!(found.globals, [hash, ("bytes".to_owned(), vec![1, 2, 255])]);
        assert_eq!(parse("no PTX"), Err(Code::INVALID_PTX));
        assert_eq!(parse(".version 8.6\n.target sm_100a\n"), Err(Code::NO_BINARY_FOR_GPU));
    }
}
