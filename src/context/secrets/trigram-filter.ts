/** Five bits of each character, so that upper and lower case are equal. */
export const trigramSpace = 1 << 15;
export const trigram = (a: number, b: number, c: number): number =>
  ((a & 31) << 10) | ((b & 31) << 5) | (c & 31);

/** The last pass that saw each trigram. Reused: a new array would cost more than scanning a short text. */
const seenIn = new Uint32Array(trigramSpace);
let passes = 0;

/**
 * Scans a text once; the result answers whether the text may contain a word. Never false for a contained word. Valid
 * until the next call.
 */
export function createTrigramFilter(text: string): (word: string) => boolean {
  if (passes === 0xffff_ffff) seenIn.fill(0);
  passes = (passes % 0xffff_ffff) + 1;
  const pass = passes;
  let [a, b] = [0, 0];
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    seenIn[trigram(a, b, c)] = pass;
    a = b;
    b = c;
  }
  return (word) => {
    for (let i = 2; i < word.length; i++) {
      const at = trigram(word.charCodeAt(i - 2), word.charCodeAt(i - 1), word.charCodeAt(i));
      if (seenIn[at] !== pass) return false;
    }
    return true;
  };
}
