export type PortablePath = { segments: readonly string[] } | { why: string };

const maxLength = 1_000;
const rootMark = '{project_root}';
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be in a path
const control = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;
const encoded = /%(?:25)*(?:2e|2f|5c|00|7e|c0|e0)/i;

/**
 * The segments of a path from the project root; `@`, `{project_root}/` and `./` are allowed in front. Checks only the
 * spelling: `openContained` checks where the path leads.
 */
export function portablePath(path: string): PortablePath {
  const bare = fromRoot(path.replace(/^@/, ''));
  const problem = problemOf(bare);
  if (problem !== undefined) return { why: problem };
  const parts = bare.replace(/\/$/, '').split('/');
  if (parts.slice(1).includes('')) return { why: 'contains //: use a single /' };
  return { segments: parts.filter((part) => part !== '.' && part !== '') };
}

/** Why a value cannot become part of a path. */
export function partProblem(value: string): string | undefined {
  if (value === '') return 'has no value';
  const problem = problemOf(value);
  return problem === undefined ? undefined : `has a value that ${problem}`;
}

const fromRoot = (path: string): string =>
  path === rootMark ? '.' : path.startsWith(`${rootMark}/`) ? path.slice(rootMark.length + 1) : path;

const advice = 'write it relative to the project root';

function problemOf(path: string): string | undefined {
  if (path === '') return `is empty: ${advice}`;
  if (path.length > maxLength) return `has more than ${maxLength} characters: ${advice}`;
  if (control.test(path)) return `contains control characters: ${advice}, without them`;
  if (path.includes('\\')) return `contains a backslash: ${advice}, with / as the separator`;
  if (encoded.test(path)) return `contains encoded characters: ${advice}, as it is on disk`;
  // Compatibility forms of characters count as those characters, as some programs read them.
  const plain = path.normalize('NFKC');
  if (/^(?:[/\\~]|[a-z]:)/i.test(plain)) return `is absolute: ${advice}`;
  if (plain.includes('::')) return `names a file stream: ${advice}`;
  if (plain.split(/[/\\]/).some((part) => /^\.\.[. ]*$/.test(part))) return `leads up with '..': ${advice}`;
  if (path.includes(rootMark)) return `contains ${rootMark} after its start: ${advice}`;
  return undefined;
}
