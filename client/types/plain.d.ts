/** Importing "deniable/plain" takes over every `<form data-deniable>` of the page; a later one is attached. */

export function attach(form: HTMLFormElement): Promise<void>;
