import { plainText, type TextMessage, type WindowMessage } from './message.ts';

/** A shorter pinned entry may stand in a text by chance: `no` does. */
const minPinLength = 12;
/** A shorter message is dialogue, and hardly dearer than the line that would stand for it. */
const minMessageLength = 80;

/** Index 0: the prompt, then the pinned entries under their keys, each only where its text does not stand there yet. */
export function renderSystemPrompt(prompt: string, pins: ReadonlyMap<string, string>): string {
  const texts = [...pins.values()].map((text) => text.trim());
  const entries = [...pins].filter((_, index) => {
    const text = texts[index] ?? '';
    if (containsText(text, prompt, minPinLength)) return false;
    // Of equal ones the first is said.
    return !texts.some(
      (other, at) =>
        (other.length > text.length || (other === text && at < index)) &&
        containsText(text, other, minPinLength),
    );
  });
  return [prompt, ...entries.map(([key, text]) => `**[${key}]:** ${text}`)].filter(Boolean).join('\n\n');
}

/**
 * The line that stands for what the owner of the loop says although index 0 says it; undefined for everything else.
 * Never for the words of a model or a tool.
 */
export function pointerFor(message: WindowMessage, systemPrompt: string): TextMessage | undefined {
  if (message.role !== 'user' && message.role !== 'system') return undefined;
  const text = plainText(message);
  if (text === undefined || !isRepeated(text, systemPrompt)) return undefined;
  const opening = [...text.trim().replaceAll(/\s+/g, ' ')].slice(0, 40).join('');
  return { role: message.role, content: `[In the system prompt: "${opening}…"]` };
}

export const isRepeated = (text: string, systemPrompt: string): boolean =>
  containsText(text, systemPrompt, minMessageLength);

/** Word for word, and not as a part of longer words. */
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
