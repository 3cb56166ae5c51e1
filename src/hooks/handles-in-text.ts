const handle = /(?<![\w-])[0-9a-z]{6,16}:[^\s#:'"`<>()[\]]+#[1-9]\d{0,8}(?!\d)/g;

/** The handles in a text, without duplicates. */
export const handlesIn = (words: string): string[] => [...new Set(words.match(handle) ?? [])];
