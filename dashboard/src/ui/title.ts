/** The name of a tab has no markup: characters that reorder or control text would change how it reads. */
export function setTitle(text: string): void {
  document.title = text.replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, ' ');
}
