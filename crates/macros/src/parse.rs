//! A kernel's function, understood; and advice where it is not one.

use crate::options::{Options, too_long};
use proc_macro2::Ident;
use quote::ToTokens;
use syn::{
    Error, FnArg, GenericArgument, GenericParam, ItemFn, Pat, PathArguments, ReturnType, Type, TypePath,
    spanned::Spanned,
};

/// Kinds of parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    In,
    Out,
    InOut,
    Table,
    Uniform,
    Reduce,
    Bins,
}

impl Kind {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "In" => Self::In,
            "Out" => Self::Out,
            "InOut" => Self::InOut,
            "Table" => Self::Table,
            "Uniform" => Self::Uniform,
            "Reduce" => Self::Reduce,
            "Bins" => Self::Bins,
            _ => return None,
        })
    }

    /// How it is written in full.
    fn example(self) -> &'static str {
        match self {
            Self::In => "In<Gray8>",
            Self::Out => "Out<Gray8>",
            Self::InOut => "InOut<Gray8>",
            Self::Table => "Table<u8, 256>",
            Self::Uniform => "Uniform<f32>",
            Self::Reduce => "Reduce<Sum<u64>>",
            Self::Bins => "Bins<256>",
        }
    }

    /// Whether the function returns a value for it.
    pub(crate) fn is_written(self) -> bool {
        matches!(self, Self::Out | Self::InOut)
    }

    fn is_image(self) -> bool {
        self.is_written() || self == Self::In
    }
}

/// A parameter after the place.
pub(crate) struct Parameter {
    pub(crate) name: Ident,
    pub(crate) ty: Type,
    pub(crate) kind: Kind,
}

/// A kernel's function.
pub(crate) struct Function {
    pub(crate) item: ItemFn,
    pub(crate) place: (Ident, Type),
    pub(crate) parameters: Vec<Parameter>,
    /// What is returned for each written image, in order.
    pub(crate) returned: Vec<Type>,
}

const KINDS: &str = "`In`, `Out`, `InOut`, `Table`, `Uniform`, `Reduce` or `Bins`";
const PLACE: &str =
    "the first parameter of a kernel is its place: `at: Pixel`, or `at: Block<16, 2>` for blocks of 16 by 2 pixels";
const MAX_PARAMETERS: usize = 8;

impl Function {
    /// Also gives what is wrong; `None` where too little is right to go on.
    pub(crate) fn parse(item: &ItemFn, options: &Options) -> (Option<Self>, Vec<Error>) {
        let mut errors = Vec::new();
        qualifiers(item, &mut errors);
        generics(item, options, &mut errors);
        if options.name.is_none() {
            errors.extend(too_long(&item.sig.ident));
        }
        let mut inputs = item.sig.inputs.iter();
        let place = match inputs.next() {
            None => {
                errors.push(Error::new(
                    item.sig.paren_token.span.join(),
                    format!("{PLACE}; what it reads and writes follows"),
                ));
                None
            }
            Some(first) => place(first, &mut errors),
        };
        // Where the first is no place, it may be a parameter that was meant to follow one.
        let rest: Vec<&FnArg> = inputs.collect();
        let parameters: Vec<Option<Parameter>> = rest.iter().map(|input| parameter(input, &mut errors)).collect();
        let all = parameters.len();
        let parameters: Vec<Parameter> = parameters.into_iter().flatten().collect();
        let Some(place) = place else { return (None, errors) };
        if parameters.len() != all {
            return (None, errors);
        }
        if let Some(more) = rest.get(MAX_PARAMETERS) {
            let message = format!(
                "a kernel has at most {MAX_PARAMETERS} parameters after its place; put numbers into one `Uniform<Struct>`"
            );
            errors.push(Error::new_spanned(more, message));
        }
        if !parameters.iter().any(|parameter| parameter.kind.is_image()) {
            let message =
                "a kernel runs over the pixels of its images, and this has none; add an `In`, `Out` or `InOut`";
            errors.push(Error::new_spanned(&item.sig.ident, message));
        } else if !parameters.iter().any(|p| p.kind.is_written() || matches!(p.kind, Kind::Reduce | Kind::Bins)) {
            let message = "nobody sees what this kernel computes; add an `Out`, `InOut`, `Reduce` or `Bins`";
            errors.push(Error::new_spanned(&item.sig.ident, message));
        }
        let written: Vec<&Parameter> = parameters.iter().filter(|parameter| parameter.kind.is_written()).collect();
        let returned = returned(item, &written, &mut errors);
        let function = returned.map(|returned| Self { item: item.clone(), place, parameters, returned });
        (function, errors)
    }
}

fn qualifiers(item: &ItemFn, errors: &mut Vec<Error>) {
    let sig = &item.sig;
    if let Some(token) = &sig.asyncness {
        errors.push(Error::new(token.span, "a kernel cannot be `async`: each call computes its place and returns"));
    }
    if let Some(token) = &sig.unsafety {
        errors.push(Error::new(
            token.span,
            "a kernel need not be `unsafe`: it reads through its parameters, which are checked",
        ));
    }
    if let Some(token) = &sig.constness {
        errors
            .push(Error::new(token.span, "a kernel cannot be `const`: it reads images; helpers that it calls may be"));
    }
    if let Some(token) = &sig.abi {
        errors.push(Error::new_spanned(token, "leave the ABI out: `#[kernel]` makes the PTX entry itself"));
    }
    if let Some(token) = &sig.variadic {
        errors.push(Error::new_spanned(token, "a kernel has a fixed list of parameters"));
    }
}

fn generics(item: &ItemFn, options: &Options, errors: &mut Vec<Error>) {
    for parameter in &item.sig.generics.params {
        if let GenericParam::Lifetime(lifetime) = parameter {
            let message = "a kernel has no lifetimes: its parameters live as long as the launch, and `#[kernel]` adds the references";
            errors.push(Error::new_spanned(lifetime, message));
        }
    }
    let count = item.sig.generics.params.len();
    if let Some((span, instances)) = &options.instances {
        if count == 0 {
            let message = "`instances` lists combinations of a generic kernel, and this one is not generic; `name = …` renames its entry";
            errors.push(Error::new(*span, message));
            return;
        }
        for instance in instances {
            let given = instance.arguments.args.len();
            if given != count {
                let message =
                    format!("`{}` has {count} generic parameters, and this instance gives {given}", item.sig.ident);
                errors.push(Error::new_spanned(&instance.arguments.args, message));
            }
        }
    } else if count > 0
        && let Some(name) = &options.name
    {
        let message = "a generic kernel has an entry for each instance: name them in `instances(name = <Types>)`";
        errors.push(Error::new_spanned(name, message));
    }
}

/// The last part of a path, with how many generic arguments it has.
fn last(ty: &Type) -> Option<(String, usize)> {
    let Type::Path(TypePath { qself: None, path }) = ty else { return None };
    let segment = path.segments.last()?;
    let arguments = match &segment.arguments {
        PathArguments::AngleBracketed(arguments) => arguments.args.len(),
        _ => 0,
    };
    Some((segment.ident.to_string(), arguments))
}

fn named(input: &FnArg, errors: &mut Vec<Error>) -> Option<(Ident, Type)> {
    match input {
        FnArg::Receiver(this) => {
            errors.push(Error::new(
                this.span(),
                "a kernel is a free function; pass a struct of numbers as `Uniform<Struct>`",
            ));
            None
        }
        FnArg::Typed(typed) => match &*typed.pat {
            Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => {
                if let Some(token) = &pat.mutability {
                    let message = "leave `mut` out: `#[kernel]` decides what the body may change (`Reduce` and `Bins`)";
                    errors.push(Error::new(token.span, message));
                }
                Some((pat.ident.clone(), (*typed.ty).clone()))
            }
            Pat::Wild(pat) => Some((Ident::new("_unused", pat.span()), (*typed.ty).clone())),
            pat => {
                errors.push(Error::new_spanned(
                    pat,
                    "a kernel's parameters are plain names; take them apart in the body",
                ));
                None
            }
        },
    }
}

fn place(input: &FnArg, errors: &mut Vec<Error>) -> Option<(Ident, Type)> {
    let (name, ty) = named(input, errors)?;
    match last(&ty) {
        Some((name_of, 0)) if name_of == "Pixel" => {}
        Some((name_of, 2)) if name_of == "Block" => {}
        Some((name_of, _)) if name_of == "Block" => {
            errors.push(Error::new_spanned(&ty, "a block says its width and height: `Block<16, 2>`"));
            return None;
        }
        _ if matches!(&ty, Type::Reference(reference) if matches!(last(&reference.elem), Some((n, _)) if n == "Pixel" || n == "Block")) =>
        {
            errors.push(Error::new_spanned(&ty, "write the place without `&`: `#[kernel]` adds the reference"));
            return None;
        }
        _ => {
            errors.push(Error::new_spanned(&ty, PLACE));
            return None;
        }
    }
    Some((name, ty))
}

fn parameter(input: &FnArg, errors: &mut Vec<Error>) -> Option<Parameter> {
    let (name, ty) = named(input, errors)?;
    let mut refuse = |message: String| {
        errors.push(Error::new_spanned(&ty, message));
        None
    };
    let text = |ty: &Type| ty.to_token_stream().to_string().replace(' ', "");
    match &ty {
        Type::Reference(reference) => {
            let inner = &reference.elem;
            match (last(inner), &**inner) {
                (Some((kind, _)), _) if Kind::of(&kind).is_some() => {
                    refuse(format!("write `{name}: {}` without `&`: `#[kernel]` adds the reference", text(inner)))
                }
                (_, Type::Array(array)) => {
                    let (element, len) = (text(&array.elem), array.len.to_token_stream());
                    refuse(format!("an array that all pixels read is a table: `{name}: Table<{element}, {len}>`"))
                }
                (_, Type::Slice(slice)) => {
                    let element = text(&slice.elem);
                    refuse(format!("a table has a fixed length: `{name}: Table<{element}, 256>`"))
                }
                (Some((image, _)), _)
                    if matches!(image.as_str(), "Image" | "ImageRef" | "ImageMut" | "SharedImage") =>
                {
                    let kind = if reference.mutability.is_some() { "Out" } else { "In" };
                    refuse(format!("a kernel names the format of an image, not where it lies: `{name}: {kind}<Gray8>`"))
                }
                _ if reference.mutability.is_some() => refuse(format!(
                    "a kernel cannot write through a reference: return what belongs to an `Out`, or combine in a `Reduce<{}>`",
                    text(inner)
                )),
                _ => refuse(format!("a value that all pixels share is passed as `{name}: Uniform<{}>`", text(inner))),
            }
        }
        Type::ImplTrait(_) => {
            refuse("a kernel names its types; for several formats make it generic: `fn f<F: Format>(…)`".into())
        }
        _ => match last(&ty) {
            Some((kind_name, arguments)) => match Kind::of(&kind_name) {
                Some(kind) => {
                    let expected = if kind == Kind::Table { 2 } else { 1 };
                    if arguments != expected {
                        return refuse(format!("`{kind_name}` says what it holds: `{name}: {}`", kind.example()));
                    }
                    Some(Parameter { name, ty, kind })
                }
                None if matches!(kind_name.as_str(), "Pixel" | "Block") => {
                    refuse("a kernel has one place, its first parameter".into())
                }
                None if matches!(kind_name.as_str(), "Image" | "ImageRef" | "ImageMut" | "SharedImage") => {
                    refuse(format!("a kernel names the format of an image, not where it lies: `{name}: In<Gray8>`"))
                }
                None => refuse(format!(
                    "a parameter of a kernel is {KINDS}; a value that all pixels share is `{name}: Uniform<{}>`",
                    text(&ty)
                )),
            },
            None => refuse(format!(
                "a parameter of a kernel is {KINDS}; a value that all pixels share is `{name}: Uniform<{}>`",
                text(&ty)
            )),
        },
    }
}

/// What is returned for each written image.
fn returned(item: &ItemFn, written: &[&Parameter], errors: &mut Vec<Error>) -> Option<Vec<Type>> {
    let names = || written.iter().map(|p| format!("`{}`", p.name)).collect::<Vec<_>>().join(", ");
    match (&item.sig.output, written) {
        (ReturnType::Default, []) => Some(Vec::new()),
        (ReturnType::Type(_, ty), []) if matches!(&**ty, Type::Tuple(tuple) if tuple.elems.is_empty()) => {
            Some(Vec::new())
        }
        (ReturnType::Type(_, ty), []) => {
            let message = "this kernel writes no image, so it returns nothing; add an `Out` for what it returns";
            errors.push(Error::new_spanned(ty, message));
            None
        }
        (ReturnType::Default, _) => {
            let message =
                format!("the function returns what is stored in {}: add `-> u8`, or what its samples are", names());
            errors.push(Error::new(item.sig.paren_token.span.close(), message));
            None
        }
        (ReturnType::Type(_, ty), [_]) => Some(vec![(**ty).clone()]),
        (ReturnType::Type(_, ty), _) => match &**ty {
            Type::Tuple(tuple) if tuple.elems.len() == written.len() => Some(tuple.elems.iter().cloned().collect()),
            _ => {
                let message = format!("the function returns a tuple of {}, one for each of {}", written.len(), names());
                errors.push(Error::new_spanned(ty, message));
                None
            }
        },
    }
}

/// The type in `Uniform<T>`.
pub(crate) fn uniform_type(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    let PathArguments::AngleBracketed(arguments) = &path.path.segments.last()?.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(inner) => Some(inner),
        _ => None,
    }
}
