import type { Check, FoundHost } from '../runtime/index.ts';

/** `tested`: the version that the tests of an adapter run. `update`: the command that installs a newer one. */
export function checkVersion(
  { program, version }: FoundHost,
  { title, tested, update }: { title: string; tested: string; update: string },
): Check {
  const what = title;
  if (version === undefined)
    return { what, state: 'wrong', says: `${program} tells no version`, next: 'install it again' };
  const order = compare(version, tested);
  if (order === 0) return { what, state: 'ok', says: `${version}, as tested` };
  if (order > 0) return { what, state: 'ok', says: `${version}; Stepfast was tested with ${tested}` };
  const says = `${version} is older than ${tested}, with which Stepfast was tested`;
  return { what, state: 'note', says, next: update };
}

function compare(one: string, other: string): number {
  const [a, b] = [one, other].map((each) => each.split('.').map(Number));
  for (const index of [0, 1, 2]) {
    const difference = (a?.[index] ?? 0) - (b?.[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
