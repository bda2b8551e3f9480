//! What `#[kernel]` makes of a function.

use crate::{
    options::{InstanceOf, Options},
    parse::{Function, Kind, Parameter, uniform_type},
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Attribute, Error, GenericParam, Generics, Item, ItemFn, Type, parse_quote, spanned::Spanned};

/// The whole expansion.
pub(crate) fn kernel(attributes: TokenStream, item: TokenStream) -> TokenStream {
    let (options, mut errors) = Options::parse(attributes);
    let item = match syn::parse2::<ItemFn>(item.clone()) {
        Ok(item) => item,
        Err(error) => {
            // Whatever it is stays, so that the rest of the file means what it did.
            let error = match syn::parse2::<Item>(item.clone()) {
                Ok(other) => {
                    Error::new_spanned(&other, "a kernel is a function: `#[kernel] fn name(at: Pixel, …) -> …`")
                }
                Err(_) => error,
            };
            let errors = reported(&[vec![error], errors].concat());
            return quote!(#errors #item);
        }
    };
    let (function, more) = Function::parse(&item, &options);
    errors.extend(more);
    match function {
        Some(function) if errors.is_empty() => Expansion { options: &options, function: &function }.tokens(),
        _ => {
            let errors = reported(&errors);
            let stand_in = stand_in(&item);
            quote!(#errors #stand_in)
        }
    }
}

fn reported(errors: &[Error]) -> TokenStream {
    errors.iter().map(Error::to_compile_error).collect()
}

/// What keeps the kernel's uses elsewhere from failing too: its type, and a function that takes anything.
fn stand_in(item: &ItemFn) -> TokenStream {
    let (vis, name) = (&item.vis, &item.sig.ident);
    let arguments: Vec<Ident> = (1..item.sig.inputs.len()).map(|i| format_ident!("argument{i}")).collect();
    let types: Vec<Ident> = (1..item.sig.inputs.len()).map(|i| format_ident!("A{i}")).collect();
    quote! {
        #[allow(non_camel_case_types, dead_code)]
        #[doc(hidden)]
        #vis struct #name {}
        #[allow(dead_code, unused_variables, clippy::too_many_arguments)]
        #[doc(hidden)]
        #vis fn #name<#(#types),*>(#(#arguments: #types),*) -> ! {
            loop {}
        }
    }
}

struct Expansion<'a> {
    options: &'a Options,
    function: &'a Function,
}

impl Expansion<'_> {
    fn tokens(&self) -> TokenStream {
        let marker = self.marker();
        let kernel = self.kernel();
        let host = self.host();
        let entries = self.entries();
        quote!(#marker #kernel #host #entries)
    }

    fn name(&self) -> &Ident {
        &self.function.item.sig.ident
    }

    fn generics(&self) -> &Generics {
        &self.function.item.sig.generics
    }

    fn types(&self) -> Vec<TokenStream> {
        self.function.parameters.iter().map(|parameter| parameter.ty.to_token_stream()).collect()
    }

    /// The attributes that pass `keep`.
    fn attributes(&self, keep: fn(&Attribute) -> bool) -> Vec<&Attribute> {
        self.function.item.attrs.iter().filter(|attribute| keep(attribute)).collect()
    }

    /// A right-nested list.
    fn list(&self, parts: &[TokenStream], types: bool) -> TokenStream {
        let path = &self.options.path;
        let Some((last, rest)) = parts.split_last() else { return quote!() };
        let end = if types { quote!(#path::list::Last<#last>) } else { quote!(#path::list::Last(#last)) };
        rest.iter().rev().fold(end, |list, part| {
            if types { quote!(#path::list::Pair<#part, #list>) } else { quote!(#path::list::Pair(#part, #list)) }
        })
    }

    /// A list of types whose own tokens stand at `span`, so that the compiler speaks of that place.
    fn list_at(&self, types: &[TokenStream], span: Span) -> TokenStream {
        let path = located(&self.options.path, span);
        let Some((last, rest)) = types.split_last() else { return quote!() };
        let end = quote_spanned!(span=> #path::list::Last<#last>);
        rest.iter().rev().fold(end, |list, ty| quote_spanned!(span=> #path::list::Pair<#ty, #list>))
    }

    /// The kernel as a type.
    fn marker(&self) -> TokenStream {
        let (vis, name) = (&self.function.item.vis, self.name());
        let cfgs = self.attributes(is_cfg);
        let doc = format!("The kernel [`{name}`](fn@{name}) as a type.");
        let parameters = self.generics().params.iter().map(|parameter| match parameter {
            GenericParam::Const(parameter) => {
                let (name, ty) = (&parameter.ident, &parameter.ty);
                quote!(const #name: #ty)
            }
            GenericParam::Type(parameter) => parameter.ident.to_token_stream(),
            GenericParam::Lifetime(parameter) => parameter.to_token_stream(),
        });
        let parameters: Vec<TokenStream> = parameters.collect();
        let types: Vec<&Ident> = self.generics().type_params().map(|parameter| &parameter.ident).collect();
        let (generics, field) = if parameters.is_empty() {
            (quote!(), quote!())
        } else {
            (quote!(<#(#parameters),*>), quote!(marker: ::core::marker::PhantomData<fn() -> (#(#types,)*)>))
        };
        quote! {
            #(#cfgs)*
            #[doc = #doc]
            #[allow(non_camel_case_types, missing_debug_implementations, dead_code)]
            #vis struct #name #generics { #field }
        }
    }

    /// What is returned for each parameter.
    fn given(&self) -> Vec<TokenStream> {
        let mut returned = self.function.returned.iter();
        let parameters = self.function.parameters.iter();
        let given = parameters.map(|parameter| match returned.next_if_written(parameter) {
            Some(ty) => ty.to_token_stream(),
            None => quote!(()),
        });
        given.collect()
    }

    /// The implementation of `Kernel`.
    fn kernel(&self) -> TokenStream {
        let path = &self.options.path;
        let function = self.function;
        let name = self.name();
        let text = name.to_string();
        let cfgs = self.attributes(is_cfg);
        let module = match &self.options.module {
            Some(module) => module.to_token_stream(),
            None => quote!(::core::env!("CARGO_PKG_NAME")),
        };
        let panics = self.options.panics;
        let signature = signature(function);
        let names: Vec<String> = function.parameters.iter().map(|parameter| parameter.name.to_string()).collect();
        let item = &function.place.1;
        let params = self.list(&self.types(), true);
        let given = self.list(&self.given(), true);
        let (impl_generics, type_generics, _) = self.generics().split_for_impl();
        let mut bounded = self.generics().clone();
        if !bounded.params.is_empty() {
            let types: Vec<Ident> = bounded.type_params().map(|parameter| parameter.ident.clone()).collect();
            let predicates = &mut bounded.make_where_clause().predicates;
            predicates.extend(types.iter().map(|ty| -> syn::WherePredicate { parse_quote!(#ty: 'static) }));
            predicates.push(parse_quote!(#params: #path::ParamList<#item, #given>));
        }
        let where_clause = &bounded.where_clause;
        let run = self.run();
        // Where the returned type is wrong, the compiler should point at it.
        let span = function.returned.first().map_or_else(|| name.span(), Spanned::span);
        let at_returned = self.list_at(&self.types(), span);
        quote! {
            #(#cfgs)*
            impl #impl_generics #path::Kernel for #name #type_generics #where_clause {
                const NAME: &'static str = #text;
                const MODULE: &'static str = #module;
                const PANICS: bool = #panics;
                const SIGNATURE: u64 = #signature;
                const PARAMETERS: &'static [&'static str] = &[#(#names),*];
                type Item = #item;
                type Params = #at_returned;
                type Given = #given;
                #run
            }
        }
    }

    /// One call: takes the parameters apart, runs the body, and sorts what it returns.
    fn run(&self) -> TokenStream {
        let function = self.function;
        let places: Vec<Ident> = (0..function.parameters.len()).map(|i| format_ident!("parameter{i}")).collect();
        let values: Vec<Ident> = (0..function.returned.len()).map(|i| format_ident!("value{i}")).collect();
        let pattern = self.list(&places.iter().map(|place| quote!(#place)).collect::<Vec<_>>(), false);
        let arguments = function.parameters.iter().zip(&places).map(|(parameter, place)| match parameter.kind {
            Kind::Uniform => quote!(**#place),
            _ => quote!(#place),
        });
        let arguments: Vec<TokenStream> = arguments.collect();
        let result = match values.as_slice() {
            [] => quote!(()),
            [value] => quote!(#value),
            values => quote!((#(#values),*)),
        };
        let mut next = values.iter();
        let given = function.parameters.iter().map(|parameter| match next.next_if_written(parameter) {
            Some(value) => quote!(#value),
            None => quote!(()),
        });
        let given = self.list(&given.collect::<Vec<_>>(), false);
        let body = self.body();
        // Named, since a parameter may stand in the body alone.
        let (_, type_generics, _) = self.generics().split_for_impl();
        let generics = type_generics.as_turbofish();
        quote! {
            #[inline(always)]
            fn run(params: &mut Self::Params, at: &Self::Item) -> Self::Given {
                #body
                let #pattern = params;
                let #result = body #generics (at, #(#arguments),*);
                #given
            }
        }
    }

    /// The user's function, with references to the parameters.
    fn body(&self) -> TokenStream {
        let function = self.function;
        let attributes = self.attributes(|attribute| !is_cfg(attribute) && !attribute.path().is_ident("doc"));
        let (place, item) = &function.place;
        let parameters = function.parameters.iter().map(|Parameter { name, ty, kind }| match kind {
            Kind::Reduce | Kind::Bins => quote!(#name: &mut #ty),
            Kind::Uniform => {
                let inner: &Type = uniform_type(ty).unwrap_or(ty);
                quote!(#name: #inner)
            }
            // What is returned goes there; the body has nothing to do with it.
            Kind::Out => quote!(#[allow(unused_variables)] #name: &#ty),
            _ => quote!(#name: &#ty),
        });
        let (impl_generics, _, where_clause) = self.generics().split_for_impl();
        let (output, block) = (&function.item.sig.output, &function.item.block);
        quote! {
            #(#attributes)*
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            fn body #impl_generics (#place: &#item, #(#parameters),*) #output #where_clause #block
        }
    }

    /// The function that makes a call.
    fn host(&self) -> TokenStream {
        let path = &self.options.path;
        let function = self.function;
        let (vis, name) = (&function.item.vis, self.name());
        let attributes = self.attributes(|attribute| is_cfg(attribute) || attribute.path().is_ident("doc"));
        let own = self.generics().params.iter();
        let arguments: Vec<Ident> = (0..function.parameters.len()).map(|i| format_ident!("A{i}")).collect();
        let (names, types): (Vec<_>, Vec<_>) =
            function.parameters.iter().map(|parameter| (&parameter.name, &parameter.ty)).unzip();
        let (_, type_generics, where_clause) = self.generics().split_for_impl();
        let list = self.list(&arguments.iter().map(|argument| quote!(#argument)).collect::<Vec<_>>(), true);
        let values = self.list(&names.iter().map(|name| quote!(#name)).collect::<Vec<_>>(), false);
        quote! {
            #(#attributes)*
            #[must_use = "a call does nothing until it is launched"]
            #[allow(clippy::too_many_arguments, clippy::type_complexity, dead_code)]
            #vis fn #name<#(#own,)* #(#arguments: #path::Arg<#types>),*>(
                #(#names: #arguments),*
            ) -> #path::Call<#name #type_generics, #list> #where_clause {
                #path::Call::new(#values)
            }
        }
    }

    /// The PTX entries.
    fn entries(&self) -> TokenStream {
        match &self.options.instances {
            Some((_, instances)) => instances
                .iter()
                .map(|InstanceOf { attributes, entry, arguments }| self.entry(attributes, entry, &quote!(#arguments)))
                .collect(),
            None if self.generics().params.is_empty() => {
                let name = self.options.name.as_ref().unwrap_or_else(|| self.name());
                self.entry(&[], name, &quote!())
            }
            None => quote!(),
        }
    }

    /// Asks whether the place and each parameter fit, so that the compiler points at what does not: at the place's type, at
    /// what is returned for a parameter, or at the parameter's type.
    fn fits(&self, arguments: &TokenStream) -> Vec<TokenStream> {
        let name = self.name();
        // From the first token of the type to its last: the compiler marks what lies between.
        let ask = |at: &Type, function: TokenStream, argument: TokenStream| {
            let tokens: Vec<Span> = at.to_token_stream().into_iter().map(|token| token.span()).collect();
            let first = tokens.first().copied().unwrap_or_else(Span::call_site);
            let last = tokens.last().copied().unwrap_or(first);
            let path = located(&self.options.path, first);
            let function = located(&function, first);
            // One hygiene for all: spans of several do not join.
            let [first, last] = [first, last].map(|span| Span::call_site().located_at(span));
            let call = quote_spanned!(last=> (#argument));
            quote_spanned!(first=> const _: () = #path::launch::#function::<#name #arguments> #call;)
        };
        let mut returned = self.function.returned.iter();
        let parameters = self.function.parameters.iter().enumerate().map(|(index, parameter)| {
            let ty = returned.next_if_written(parameter).unwrap_or(&parameter.ty);
            ask(ty, quote!(parameter_fits), quote!(#index))
        });
        let place = ask(&self.function.place.1, quote!(place_fits), quote!());
        core::iter::once(place).chain(parameters).collect()
    }

    fn entry(&self, attributes: &[Attribute], entry: &Ident, arguments: &TokenStream) -> TokenStream {
        let path = &self.options.path;
        let name = self.name();
        let cfgs = self.attributes(is_cfg);
        let text = entry.to_string();
        let hash_text = text.to_uppercase() + "_PARAMS_HASH";
        let hash = Ident::new(&hash_text, entry.span());
        let (device, mark, abi) = marks();
        let fits = self.fits(arguments);
        let about = quote!(#(#cfgs)* #(#attributes)*);
        quote! {
            #(#about #fits)*
            #(#cfgs)*
            #(#attributes)*
            impl #path::Instance for #name #arguments {
                const ENTRY: &'static #path::Entry = &#path::Entry::of::<Self>(#text, #hash_text);
            }
            #(#cfgs)*
            #(#attributes)*
            #device
            const _: () = {
                type Marker = #name #arguments;
                /// The hash of the parameter block, compared when the module loads.
                #[unsafe(no_mangle)]
                #[used]
                pub static #hash: u64 = <#path::Launch<Marker> as #path::ParamLayout>::HASH;
                /// # Safety
                /// Launched with blocks of 32 x 4 threads on memory that the parameters describe.
                #mark
                #[unsafe(no_mangle)]
                pub unsafe extern #abi fn #entry(launch: #path::Launch<Marker>) {
                    // SAFETY: as promised by whoever launches.
                    unsafe { #path::device::run(&launch) }
                }
            };
        }
    }
}

/// Where an entry is compiled, its mark, and how it is called. Where the host checks the device code (`cargo xtask
/// rust-cuda`), it stands for itself: a host knows neither the mark nor the way of calling.
fn marks() -> (TokenStream, TokenStream, TokenStream) {
    if cfg!(framewright_host_check) {
        return (quote!(), quote!(), quote!("C"));
    }
    // Only rust-cuda's compiler knows the attribute.
    let mark = if cfg!(feature = "rust-cuda") { quote!(#[nvvm_internal::kernel]) } else { quote!() };
    (quote!(#[cfg(target_arch = "nvptx64")]), mark, quote!("ptx-kernel"))
}

/// The same tokens, standing at `span`.
fn located(tokens: &TokenStream, span: Span) -> TokenStream {
    let at = |mut token: proc_macro2::TokenTree| {
        token.set_span(token.span().located_at(span));
        token
    };
    tokens.clone().into_iter().map(at).collect()
}

/// The next of what there is one of for each written image.
trait NextIfWritten: Iterator {
    fn next_if_written(&mut self, parameter: &Parameter) -> Option<Self::Item>;
}
impl<I: Iterator> NextIfWritten for I {
    fn next_if_written(&mut self, parameter: &Parameter) -> Option<Self::Item> {
        if parameter.kind.is_written() { self.next() } else { None }
    }
}

fn is_cfg(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr")
}

/// FNV-1a over the text of the place, the parameters and what is returned.
fn signature(function: &Function) -> u64 {
    let mut text = function.place.1.to_token_stream().to_string();
    for Parameter { name, ty, .. } in &function.parameters {
        text += &format!(", {name}: {}", ty.to_token_stream());
    }
    for ty in &function.returned {
        text += &format!(" -> {}", ty.to_token_stream());
    }
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
