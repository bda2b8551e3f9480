//! What stands in the parentheses of `#[kernel(…)]`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use std::collections::BTreeSet;
use syn::{
    AngleBracketedGenericArguments, Attribute, Error, LitBool, LitStr, Path, Result, Token,
    ext::IdentExt,
    parenthesized,
    parse::{ParseBuffer, ParseStream, Parser},
};

/// The longest entry name that a panic's report holds.
const NAME_BYTES: usize = 96;

/// A combination of a generic kernel that becomes a PTX entry.
pub(crate) struct InstanceOf {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) entry: Ident,
    pub(crate) arguments: AngleBracketedGenericArguments,
}

pub(crate) struct Options {
    pub(crate) path: TokenStream,
    pub(crate) name: Option<Ident>,
    pub(crate) module: Option<LitStr>,
    pub(crate) panics: bool,
    pub(crate) instances: Option<(Span, Vec<InstanceOf>)>,
}

impl Options {
    /// Also gives what is wrong; then the options say what could be read.
    pub(crate) fn parse(attributes: TokenStream) -> (Self, Vec<Error>) {
        let path = quote!(::framewright_kernel);
        let mut options = Self { path, name: None, module: None, panics: true, instances: None };
        let mut errors = Vec::new();
        let parse = |input: ParseStream<'_>| options.read(input, &mut errors);
        if let Err(error) = parse.parse2(attributes) {
            errors.push(error);
        }
        (options, errors)
    }

    fn read(&mut self, input: ParseStream<'_>, errors: &mut Vec<Error>) -> Result<()> {
        let mut seen = BTreeSet::new();
        while !input.is_empty() {
            let option = input.call(Ident::parse_any)?;
            let text = option.to_string();
            if !seen.insert(text.clone()) {
                errors.push(Error::new(option.span(), format!("the option `{text}` is given twice; keep one")));
            }
            if text == "instances" {
                let list;
                parenthesized!(list in input);
                self.instances = Some((option.span(), instances(&list, errors)?));
            } else if !matches!(text.as_str(), "name" | "module" | "panics" | "crate") {
                let message = format!(
                    "there is no option `{text}`; there are `name = entry_name`, `module = \"text\"`, `panics = false`, \
                     `instances(entry_name = <Types>)` and `crate = path`"
                );
                return Err(Error::new(option.span(), message));
            } else {
                input.parse::<Token![=]>()?;
                self.value(&text, input, errors)?;
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    }

    fn value(&mut self, option: &str, input: ParseStream<'_>, errors: &mut Vec<Error>) -> Result<()> {
        // Made before the token is taken, so that it points at it.
        let at = input.fork();
        let wants = |example: &str| at.error(format!("write `{option} = {example}`"));
        match option {
            "name" => {
                let name = input.parse::<Ident>().map_err(|_| wants("entry_name"))?;
                errors.extend(too_long(&name));
                self.name = Some(name);
            }
            "module" => {
                let module = input.parse::<LitStr>().map_err(|_| wants("\"text\""))?;
                if module.value().is_empty() {
                    errors.push(Error::new(module.span(), "a module's name has at least one letter"));
                }
                self.module = Some(module);
            }
            "panics" => self.panics = input.parse::<LitBool>().map_err(|_| wants("false"))?.value,
            _ => {
                let path = input.call(Path::parse_mod_style).map_err(|_| wants("framewright_kernel"))?;
                self.path = quote!(#path);
            }
        }
        Ok(())
    }
}

fn instances(list: ParseStream<'_>, errors: &mut Vec<Error>) -> Result<Vec<InstanceOf>> {
    let mut all = Vec::<InstanceOf>::new();
    while !list.is_empty() {
        // Made before the token is taken, so that it points at it.
        let wants = |at: &ParseBuffer<'_>| {
            at.error("an instance is an entry name with its types: `nv12_to_bgr = <Nv12, Bgr8>`")
        };
        let attributes = list.call(Attribute::parse_outer)?;
        let at = list.fork();
        let entry = list.parse::<Ident>().map_err(|_| wants(&at))?;
        let at = list.fork();
        list.parse::<Token![=]>().map_err(|_| wants(&at))?;
        let at = list.fork();
        let arguments = list.parse().map_err(|_| wants(&at))?;
        errors.extend(too_long(&entry));
        if all.iter().any(|other| other.entry == entry) {
            let message = format!("two instances are called `{entry}`; each PTX entry needs a name of its own");
            errors.push(Error::new(entry.span(), message));
        }
        all.push(InstanceOf { attributes, entry, arguments });
        if !list.is_empty() {
            list.parse::<Token![,]>()?;
        }
    }
    if all.is_empty() {
        errors.push(list.error("name at least one instance: `instances(nv12_to_bgr = <Nv12, Bgr8>)`"));
    }
    Ok(all)
}

/// The error where a name does not fit into a panic's report.
pub(crate) fn too_long(name: &Ident) -> Option<Error> {
    let bytes = name.to_string().len();
    let message = format!(
        "an entry's name has at most {NAME_BYTES} bytes, so that the report of a panic holds it, and this has {bytes}; give a \
         shorter one by `#[kernel(name = …)]`"
    );
    (bytes > NAME_BYTES).then(|| Error::new(name.span(), message))
}
