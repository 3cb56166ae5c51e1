export type PortablePath = { segments: readonly string[] } | { why: string };

const maxLength = 1_000;
const rootMark = '{project_root}';
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be in a path
const control = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;
const encoded = /%(?:25)*(?:2e|2f|5c|00|7e|c0|e0)/i;

/**
 * The parts of a path from the top of the project; `@`, `{project_root}/` and `./` may stand before it. Only its
 * words are looked at: where it leads is checked when it is opened.
 */
export function portablePath(path: string): PortablePath {
  const bare = fromRoot(path.replace(/^@/, ''));
  const problem = problemOf(bare);
  if (problem !== undefined) return { why: problem };
  const parts = bare.replace(/\/$/, '').split('/');
  if (parts.slice(1).includes('')) return { why: 'holds // : write a single /' };
  return { segments: parts.filter((part) => part !== '.' && part !== '') };
}

/** What is wrong with a value that becomes part of a path. */
export function partProblem(value: string): string | undefined {
  if (value === '') return 'has no value';
  const problem = problemOf(value);
  return problem === undefined ? undefined : `has a value that ${problem}`;
}

const fromRoot = (path: string): string =>
  path === rootMark ? '.' : path.startsWith(`${rootMark}/`) ? path.slice(rootMark.length + 1) : path;

const advice = 'write it from the top of the project';

function problemOf(path: string): string | undefined {
  if (path === '') return `is empty: ${advice}`;
  if (path.length > maxLength) return `has more than ${maxLength} characters: ${advice}`;
  if (control.test(path)) return `holds control characters: ${advice}, without them`;
  if (path.includes('\\')) return `holds a backslash: ${advice}, with / between its parts`;
  if (encoded.test(path)) return `holds encoded characters: ${advice}, as it is on disk`;
  // What other programs read as the same characters counts as them.
  const plain = path.normalize('NFKC');
  if (/^(?:[/\\~]|[a-z]:)/i.test(plain)) return `is absolute: ${advice}`;
  if (plain.includes('::')) return `names a stream: ${advice}`;
  if (plain.split(/[/\\]/).some((part) => /^\.\.[. ]*$/.test(part))) return `leads up with '..': ${advice}`;
  if (path.includes(rootMark)) return `holds ${rootMark} in its middle: ${advice}`;
  return undefined;
}
