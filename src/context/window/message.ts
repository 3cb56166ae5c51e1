export type Role = 'system' | 'user' | 'assistant' | 'tool';

/** The required shape of a message, such as the AI SDK's `ModelMessage`. Parts of an unknown type stay untouched. */
export interface WindowMessage {
  readonly role: Role;
  /** Null means no parts, as in OpenAI's messages with tool calls. */
  readonly content: string | readonly object[] | null;
}

export interface PlainMessage {
  role: Role;
  content: string;
}

/** A message that the window writes itself; valid for every provider. */
export type TextMessage = { role: 'system'; content: string } | { role: 'user'; content: string };

/** The content type of messages with this role. */
export type ContentOf<M extends WindowMessage, R extends Role> = M extends WindowMessage
  ? R extends M['role']
    ? M['content']
    : never
  : never;

export const field = (part: object, name: string): unknown => Reflect.get(part, name);

export const partsOf = ({ content }: WindowMessage): readonly object[] =>
  typeof content === 'string' ? [] : (content ?? []);

/** The text of a message; undefined if it has other parts. */
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
