export type Role = 'system' | 'user' | 'assistant' | 'tool';

/** What a window needs of a message. The AI SDK's `ModelMessage` is one; parts of an unknown type stay untouched. */
export interface WindowMessage {
  readonly role: Role;
  /** Null, as OpenAI's messages have it beside their tool calls: no parts. */
  readonly content: string | readonly object[] | null;
}

export interface PlainMessage {
  role: Role;
  content: string;
}

/** What a window writes itself; valid in every form of message. */
export type TextMessage = { role: 'system'; content: string } | { role: 'user'; content: string };

/** The content that a message of this role may have. */
export type ContentOf<M extends WindowMessage, R extends Role> = M extends WindowMessage
  ? R extends M['role']
    ? M['content']
    : never
  : never;

export const field = (part: object, name: string): unknown => Reflect.get(part, name);

export const partsOf = ({ content }: WindowMessage): readonly object[] =>
  typeof content === 'string' ? [] : (content ?? []);

/** Undefined where anything but text is in it. */
export function plainText(message: WindowMessage): string | undefined {
  if (typeof message.content === 'string') return message.content;
  const texts: string[] = [];
  for (const part of partsOf(message)) {
    const text = field(part, 'text');
    if (field(part, 'type') !== 'text' || typeof text !== 'string') return undefined;
    texts.push(text);
  }
  return texts.join('\n');
}
