import { field, partsOf, type WindowMessage } from './message.ts';

/** Tokens for the role and separators of a message. */
const perMessage = 4;

const files = ['file', 'image', 'reasoning-file', 'media', 'file-data', 'image-data', 'document'];

/** Counts each message once: messages of the window must not be changed. */
export function createMessageCounter(
  count: (text: string) => number,
  fileTokens: number,
): (message: WindowMessage) => number {
  const counted = new WeakMap<WindowMessage, number>();

  function ofPart(part: object): number {
    const type = field(part, 'type');
    const text = field(part, 'text');
    if ((type === 'text' || type === 'reasoning') && typeof text === 'string') return count(text);
    const output = field(part, 'output');
    if (type === 'tool-result' && isObject(output)) {
      const value = field(output, 'value');
      if (typeof value === 'string') return count(`${field(part, 'toolName')} ${value}`);
    }
    return ofStructure(part);
  }

  /** Counts the JSON of a part; binary files count `fileTokens`. */
  function ofStructure(part: object): number {
    let attached = 0;
    const json = JSON.stringify(part, (key, value: unknown) => {
      if (key === 'providerOptions') return undefined;
      if (typeof value === 'bigint') return String(value);
      if (!isObject(value) || !files.includes(String(field(value, 'type')))) return value;
      const data = field(value, 'data');
      if (isObject(data) && field(data, 'type') === 'text') return data;
      attached += fileTokens;
      return field(value, 'type');
    });
    return attached + count(json);
  }

  return (message) => {
    const before = counted.get(message);
    if (before !== undefined) return before;
    const { content } = message;
    const ofParts = partsOf(message).reduce((sum, part) => sum + ofPart(part), 0);
    const tokens = perMessage + (typeof content === 'string' ? count(content) : ofParts);
    counted.set(message, tokens);
    return tokens;
  };
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
