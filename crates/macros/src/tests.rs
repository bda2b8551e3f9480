//! Each mistake gives one message, at the token that it is about; and what is right expands to what the docs say.

use crate::expand::kernel;
use proc_macro2::{TokenStream, TokenTree};
use std::str::FromStr;

fn tokens(text: &str) -> TokenStream {
    TokenStream::from_str(text).expect("tokens")
}

/// The messages in an expansion, each with the source text that it points at.
fn messages(stream: TokenStream, source: &[&str]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let all: Vec<TokenTree> = stream.into_iter().collect();
    for (i, token) in all.iter().enumerate() {
        let TokenTree::Ident(ident) = token else { continue };
        if ident != "compile_error" {
            continue;
        }
        // `::core::compile_error!{ "…" }`: the first token has the start of the span, the group its end.
        let Some(TokenTree::Group(group)) = all.get(i + 2) else { continue };
        let text = group.stream().to_string();
        let message = syn::parse_str::<syn::LitStr>(&text).expect("a string").value();
        let (start, end) = (ident.span(), group.span());
        let joined = start.join(end).unwrap_or(start);
        found.push((message, joined.source_text().unwrap_or_else(|| source.concat())));
    }
    found
}

/// One message, which holds `says` and points at `at`.
#[track_caller]
fn refused(attributes: &str, function: &str, says: &str, at: &str) {
    let found = messages(kernel(tokens(attributes), tokens(function)), &[function]);
    let one = match found.as_slice() {
        [one] => one,
        _ => panic!("expected one message with `{says}`, found {found:?}"),
    };
    assert!(one.0.contains(says), "expected `{says}`, found `{}`", one.0);
    assert_eq!(one.1, at, "where `{}` points", one.0);
}

#[test]
fn what_is_no_function() {
    refused("", "struct S { a: u8 }", "a kernel is a function", "struct S { a: u8 }");
}

#[test]
fn qualifiers() {
    let with = |qualifier: &str| format!("{qualifier} fn f(at: Pixel, src: In<Gray8>, dst: Out<Gray8>) -> u8 {{ 0 }}");
    refused("", &with("async"), "cannot be `async`", "async");
    refused("", &with("unsafe"), "need not be `unsafe`", "unsafe");
    refused("", &with("const"), "cannot be `const`", "const");
    refused("", &with("extern \"C\""), "leave the ABI out", "extern \"C\"");
}

#[test]
fn places() {
    refused("", "fn f() -> u8 { 0 }", "the first parameter of a kernel is its place", "()");
    refused(
        "",
        "fn f(src: In<Gray8>, dst: Out<Gray8>) -> u8 { 0 }",
        "the first parameter of a kernel is its place",
        "In<Gray8>",
    );
    refused("", "fn f(at: &Pixel, dst: Out<Gray8>) -> u8 { 0 }", "without `&`", "&Pixel");
    refused("", "fn f(at: Block, dst: Out<Gray8>) -> u8 { 0 }", "a block says its width and height", "Block");
    refused("", "fn f(at: Block<16>, dst: Out<Gray8>) -> u8 { 0 }", "a block says its width and height", "Block<16>");
    refused("", "fn f(at: Pixel, by: Pixel, dst: Out<Gray8>) -> u8 { 0 }", "has one place", "Pixel");
    refused("", "fn f(&self, dst: Out<Gray8>) -> u8 { 0 }", "a free function", "&self");
}

#[test]
fn parameters_that_are_none() {
    let with = |parameter: &str| format!("fn f(at: Pixel, {parameter}, dst: Out<Gray8>) -> u8 {{ 0 }}");
    refused("", &with("gain: f32"), "`gain: Uniform<f32>`", "f32");
    refused("", &with("gain: (f32, f32)"), "`gain: Uniform<(f32,f32)>`", "(f32, f32)");
    refused("", &with("gain: &f32"), "`gain: Uniform<f32>`", "&f32");
    refused("", &with("lut: &[u8; 256]"), "`lut: Table<u8, 256>`", "&[u8; 256]");
    refused("", &with("lut: &[u8]"), "`lut: Table<u8, 256>`", "&[u8]");
    refused("", &with("src: &Image<Gray8>"), "`src: In<Gray8>`", "&Image<Gray8>");
    refused("", &with("src: Image<Gray8>"), "`src: In<Gray8>`", "Image<Gray8>");
    refused("", &with("src: &mut Image<Gray8>"), "`src: Out<Gray8>`", "&mut Image<Gray8>");
    refused("", &with("src: &In<Gray8>"), "write `src: In<Gray8>` without `&`", "&In<Gray8>");
    refused("", &with("sum: &mut u64"), "`Reduce<u64>`", "&mut u64");
    refused("", &with("src: In"), "`In` says what it holds: `src: In<Gray8>`", "In");
    refused("", &with("lut: Table<u8>"), "`Table` says what it holds: `lut: Table<u8, 256>`", "Table<u8>");
    refused("", &with("src: impl Format"), "make it generic", "impl Format");
    refused("", &with("mut src: In<Gray8>"), "leave `mut` out", "mut");
    refused("", &with("(a, b): In<Gray8>"), "plain names", "(a, b)");
    let many: Vec<String> = (0..9).map(|i| format!("p{i}: Uniform<u8>")).collect();
    refused("", &with(&many.join(", ")), "at most 8 parameters", "p8: Uniform<u8>");
}

#[test]
fn what_is_returned() {
    refused("", "fn f(at: Pixel, src: In<Gray8>, dst: Out<Gray8>) {}", "is stored in `dst`: add `-> u8`", ")");
    refused("", "fn f(at: Pixel, src: In<Gray8>, bins: Bins<9>) -> u8 { 0 }", "returns nothing; add an `Out`", "u8");
    refused(
        "",
        "fn f(at: Pixel, a: Out<Gray8>, b: InOut<Gray8>) -> u8 { 0 }",
        "a tuple of 2, one for each of `a`, `b`",
        "u8",
    );
    refused("", "fn f(at: Pixel, a: Out<Gray8>, b: Out<Gray8>) -> (u8, u8, u8) { a }", "a tuple of 2", "(u8, u8, u8)");
}

#[test]
fn kernels_that_do_nothing() {
    refused("", "fn f(at: Pixel, src: In<Gray8>) {}", "nobody sees what this kernel computes", "f");
    refused("", "fn f(at: Pixel, sum: Reduce<Sum<u64>>) {}", "add an `In`, `Out` or `InOut`", "f");
}

#[test]
fn generics() {
    refused("", "fn f<'a>(at: Pixel, dst: Out<Gray8>) -> u8 { 0 }", "no lifetimes", "'a");
    let generic = "fn f<F: Format>(at: Pixel, dst: Out<F>) -> u8 { 0 }";
    refused(
        "instances(g = <Gray8, Bgr8>)",
        generic,
        "`f` has 1 generic parameters, and this instance gives 2",
        "Gray8, Bgr8",
    );
    refused("instances(g = <Gray8>, g = <Bgr8>)", generic, "two instances are called `g`", "g");
    refused("name = g", generic, "name them in `instances", "g");
    let plain = "fn f(at: Pixel, dst: Out<Gray8>) -> u8 { 0 }";
    refused("instances(g = <Gray8>)", plain, "this one is not generic", "instances");
}

#[test]
fn options() {
    let plain = "fn f(at: Pixel, dst: Out<Gray8>) -> u8 { 0 }";
    refused("fast", plain, "there is no option `fast`", "fast");
    refused("panics = false, panics = false", plain, "given twice", "panics");
    refused("panics = 3", plain, "write `panics = false`", "3");
    refused("module = copy", plain, "write `module = \"text\"`", "copy");
    refused("module = \"\"", plain, "at least one letter", "\"\"");
    refused("name = \"x\"", plain, "write `name = entry_name`", "\"x\"");
    refused(
        "instances(<Gray8>)",
        "fn f<F: Format>(at: Pixel, dst: Out<F>) -> u8 { 0 }",
        "an entry name with its types",
        "<",
    );
    let long = "x".repeat(97);
    refused(&format!("name = {long}"), plain, "at most 96 bytes", &long);
    refused("", &plain.replace("fn f", &format!("fn {long}")), "at most 96 bytes", &long);
}

#[test]
fn several_mistakes_are_told_at_once() {
    let found = messages(kernel(tokens("fast"), tokens("unsafe fn f(at: Pixel, gain: f32, n: u8) -> u8 { 0 }")), &[]);
    let texts: Vec<&str> = found.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(texts.len(), 4, "{texts:?}");
    assert!(texts[0].contains("`fast`") && texts[1].contains("`unsafe`"), "{texts:?}");
    assert!(texts[2].contains("Uniform<f32>") && texts[3].contains("Uniform<u8>"), "{texts:?}");
}

#[test]
fn a_refused_kernel_leaves_its_names() {
    let text = kernel(tokens(""), tokens("pub fn f(at: Pixel, gain: f32, dst: Out<Gray8>) -> u8 { 0 }")).to_string();
    assert!(
        text.contains("pub struct f { }") && text.contains("pub fn f < A1 , A2 > (argument1 : A1 , argument2 : A2)"),
        "{text}"
    );
    // What is no function stays as it is.
    let text = kernel(tokens(""), tokens("struct S { a: u8 }")).to_string();
    assert!(text.ends_with("struct S { a : u8 }"), "{text}");
}

#[test]
fn a_kernel_expands_to_type_implementation_function_and_entry() {
    let source = "/// Doc.\n#[inline]\npub fn mix(at: Block<2, 2>, src: In<Nv12>, gain: Uniform<f32>, dst: InOut<Nv12>, n: Bins<9>) -> Value { body(gain) }";
    let text = kernel(tokens("name = mixes, module = \"m\", panics = false, crate = k"), tokens(source)).to_string();
    for part in [
        "pub struct mix { }",
        "impl k :: Kernel for mix",
        "const NAME : & 'static str = \"mix\"",
        "const MODULE : & 'static str = \"m\"",
        "const PANICS : bool = false",
        "& [\"src\" , \"gain\" , \"dst\" , \"n\"]",
        "type Params = k :: list :: Pair < In < Nv12 > , k :: list :: Pair < Uniform < f32 > , k :: list :: Pair < InOut < Nv12 > , k :: list :: Last < Bins < 9 > > > > >",
        "type Given = k :: list :: Pair < () , k :: list :: Pair < () , k :: list :: Pair < Value , k :: list :: Last < () > > > >",
        "fn body (at : & Block < 2 , 2 > , src : & In < Nv12 > , gain : f32 , dst : & InOut < Nv12 > , n : & mut Bins < 9 >) -> Value { body (gain) }",
        "let value0 = body (at , parameter0 , * * parameter1 , parameter2 , parameter3)",
        "k :: Entry :: of :: < Self > (\"mixes\" , \"MIXES_PARAMS_HASH\")",
        "extern \"ptx-kernel\" fn mixes",
    ] {
        assert!(text.contains(part), "expected `{part}` in {text}");
    }
    assert_eq!(text.contains("nvvm_internal"), cfg!(feature = "rust-cuda"));
}

#[test]
fn a_generic_kernel_has_an_entry_for_each_instance() {
    let source =
        "fn f<F: Format, const N: usize>(at: Pixel, src: In<F>, dst: Out<F>) -> SampleOf<F> where F: Other { 0 }";
    let text = kernel(tokens("instances(a = <Gray8, 1>, #[cfg(x)] b = <Bgr8, 2>)"), tokens(source)).to_string();
    for part in [
        "struct f < F , const N : usize > { marker : :: core :: marker :: PhantomData < fn () -> (F ,) > }",
        "F : 'static",
        ": :: framewright_kernel :: ParamList < Pixel ,",
        "Instance for f < Gray8 , 1 >",
        "# [cfg (x)] impl :: framewright_kernel :: Instance for f < Bgr8 , 2 >",
        "fn f < F : Format , const N : usize , A0 : :: framewright_kernel :: Arg < In < F > > ,",
        "B_PARAMS_HASH",
    ] {
        assert!(text.contains(part), "expected `{part}` in {text}");
    }
    // Without instances it runs on the CPU.
    assert!(!kernel(tokens(""), tokens(source)).to_string().contains("Instance"));
}

#[test]
fn the_signature_changes_with_the_parameters() {
    let of = |source: &str| {
        let text = kernel(tokens(""), tokens(source)).to_string();
        text.split("SIGNATURE : u64 = ")
            .nth(1)
            .and_then(|rest| rest.split(' ').next().map(str::to_owned))
            .expect("a signature")
    };
    let first = of("fn f(at: Pixel, a: Uniform<A>, dst: Out<Gray8>) -> u8 { 0 }");
    assert_eq!(first, of("fn f(at: Pixel, a: Uniform<A>, dst: Out<Gray8>) -> u8 { 1 }"));
    assert_ne!(first, of("fn f(at: Pixel, a: Uniform<B>, dst: Out<Gray8>) -> u8 { 0 }"));
    assert_ne!(first, of("fn f(at: Block<1, 1>, a: Uniform<A>, dst: Out<Gray8>) -> u8 { 0 }"));
}
