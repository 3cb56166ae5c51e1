/** Five bits of each of three characters; upper and lower case have the same. */
export const trigramSpace = 1 << 15;
export const trigram = (a: number, b: number, c: number): number =>
  ((a & 31) << 10) | ((b & 31) << 5) | (c & 31);

/** Which pass over a text saw each trigram last: making room anew would cost more than a short text does. */
const seenIn = new Uint32Array(trigramSpace);
let passes = 0;

/**
 * Tells of many words in one pass over a text which of them it may have; never no to one that it has. Good until the
 * next is made.
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
