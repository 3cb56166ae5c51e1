import { plainText, type TextMessage, type WindowMessage } from './message.ts';

/** A shorter pinned entry, such as `no`, may occur in a text by chance. */
const minPinLength = 12;
/** A shorter message is dialogue and hardly larger than the pointer that would replace it. */
const minMessageLength = 80;

/** Index 0: the prompt, then the pinned entries in quotes under their keys, as seed 003 writes them, without entries whose text is already there. */
export function renderSystemPrompt(prompt: string, pins: ReadonlyMap<string, string>): string {
  const texts = [...pins.values()];
  const entries = [...pins].filter((_, index) => {
    const text = texts[index] ?? '';
    if (containsText(text, prompt, minPinLength)) return false;
    // The first of equal entries stays.
    return !texts.some(
      (other, at) =>
        (other.length > text.length || (other === text && at < index)) &&
        containsText(text, other, minPinLength),
    );
  });
  return [prompt, ...entries.map(([key, text]) => `**[${key}]:** "${text}"`)].filter(Boolean).join('\n\n');
}

/** The line that replaces a user or system message whose text is in index 0; undefined for every other message. */
export function pointerFor(message: WindowMessage, systemPrompt: string): TextMessage | undefined {
  if (message.role !== 'user' && message.role !== 'system') return undefined;
  const text = plainText(message);
  if (text === undefined || !isRepeated(text, systemPrompt)) return undefined;
  const opening = [...text.trim().replaceAll(/\s+/g, ' ')].slice(0, 40).join('');
  return { role: message.role, content: `[In the system prompt: "${opening}…"]` };
}

export const isRepeated = (text: string, systemPrompt: string): boolean =>
  containsText(text, systemPrompt, minMessageLength);

/** Verbatim and at word boundaries. */
function containsText(text: string, whole: string, shortest: number): boolean {
  const sought = text.trim();
  if (sought.length < shortest) return false;
  for (let at = whole.indexOf(sought); at >= 0; at = whole.indexOf(sought, at + 1)) {
    const end = at + sought.length;
    if (!isInsideWord(whole, at) && !isInsideWord(whole, end)) return true;
  }
  return false;
}

const wordCharacter = /[\p{L}\p{N}_]/u;
const isInsideWord = (text: string, at: number): boolean =>
  wordCharacter.test(text.charAt(at - 1)) && wordCharacter.test(text.charAt(at));
