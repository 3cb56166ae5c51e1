const handle = /(?<![\w-])[0-9a-z]{6,16}:[^\s#:'"`<>()[\]]+#[1-9]\d{0,8}(?!\d)/;

/** The first handle in somebody's words. */
export const handleIn = (words: string): string | undefined => handle.exec(words)?.[0];
