// Types of the bundled highlight.js.

export type Token = string | { scope: string; children: Token[] };

/** The tokens of a text, or null if the language is unknown. */
export function tokenize(text: string, language: string): Token[] | null;
