//! The shared libraries that a program asks for; files of several packages take this one in by path.

use object::{
    Endianness,
    read::elf::{Dyn, ElfFile64},
};
use std::path::Path;

/// The names in the program's own list (DT_NEEDED), without those that its libraries ask for in turn.
pub(crate) fn needed(program: &Path) -> Vec<String> {
    let bytes = std::fs::read(program).expect("the program is there");
    let file = ElfFile64::<Endianness>::parse(&*bytes).expect("a program of 64 bits");
    let (endian, sections) = (file.endian(), file.elf_section_table());
    let (entries, link) = sections.dynamic(endian, &*bytes).expect("its list").expect("it is linked dynamically");
    let strings = sections.strings(endian, &*bytes, link).expect("its names");
    let needed = entries.iter().filter(|entry| entry.tag32(endian) == Some(object::elf::DT_NEEDED));
    let names: Vec<String> = needed
        .map(|entry| String::from_utf8_lossy(entry.string(endian, strings).expect("a name")).into_owned())
        .collect();
    assert!(names.iter().any(|name| name.starts_with("libc.so")), "the list was read: {names:?}");
    names
}

/// Fails for a program that starts only where NVIDIA's driver is.
#[track_caller]
pub(crate) fn needs_no_cuda(program: &Path) {
    let names = needed(program);
    assert!(!names.iter().any(|name| name.contains("cuda")), "{} needs {names:?}", program.display());
}
