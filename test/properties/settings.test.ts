/** Our entries in other people's settings: random files with comments, hooks and any formatting. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Added,
  type Dialect,
  type Entry,
  isRefusal,
  isSameBut,
  type Json,
  type Merged,
  merge,
  readDocument,
  remember,
  restored,
  sameJson,
  settled,
  unmerge,
  withoutOurs,
} from '../../src/hosts/settings/index.ts';

const hook = (command: string): Json => ({ hooks: [{ type: 'command', command, timeout: 15 }] });

/** One of each kind that hosts ask for. */
const entries: readonly Entry[] = [
  { kind: 'item', path: ['hooks', 'SessionStart'], value: hook('stepfast-hook session_start') },
  { kind: 'item', path: ['hooks', 'Stop'], value: hook('stepfast-hook stop') },
  {
    kind: 'value',
    path: ['mcpServers', 'stepfast'],
    value: { command: 'stepfast', args: ['mcp'] },
    named: true,
  },
  { kind: 'value', path: ['enabledPlugins', 'stepfast@stepfast'], value: true, named: true },
  { kind: 'value', path: ['statusLine'], value: { type: 'command', command: 'stepfast statusline' } },
];

const scalar: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(
    null,
    true,
    false,
    0,
    -1.5,
    '',
    '// no comment',
    '/* none */',
    'a, }',
    '"\\\n\u2028é💡',
  ),
  fc.string({ maxLength: 8 }),
);
const anything = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'hooks', '__proto__', 'constructor', 'x y'), tie('json'), {
      maxKeys: 3,
    }),
  ),
})).json;
const theirHooks: fc.Arbitrary<Json> = fc.array(
  fc.oneof(fc.constantFrom<Json>(hook('echo mine'), { matcher: 'Bash', hooks: [] }), anything),
  { maxLength: 3 },
);
const settings: fc.Arbitrary<Json> = fc.record(
  {
    model: scalar,
    hooks: fc.record({ SessionStart: theirHooks, Stop: theirHooks, Other: theirHooks }, { requiredKeys: [] }),
    mcpServers: fc.record({ other: anything, stepfast: anything }, { requiredKeys: [] }),
    enabledPlugins: fc.record({ 'x@y': fc.boolean() }, { requiredKeys: [] }),
    statusLine: anything,
    'any thing': anything,
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Json>; // A record of JSON is JSON.

/** How a person may have typed it: choices are taken one after the other, then from the start again. */
interface Hand {
  dialect: Dialect;
  choices: number[];
  eol: '\n' | '\r\n';
  bom: boolean;
}

const hand: fc.Arbitrary<Hand> = fc.record({
  dialect: fc.constantFrom<Dialect>('json', 'jsonc'),
  choices: fc.array(fc.nat(99), { minLength: 1, maxLength: 40 }),
  eol: fc.constantFrom('\n', '\r\n'),
  bom: fc.boolean(),
});

function typed(value: Json, { dialect, choices, eol, bom }: Hand): string {
  let at = 0;
  const pick = (of: number): number => (choices[at++ % choices.length] ?? 0) % of;
  const gaps = ['', ' ', '  ', '\t', eol, `${eol}  `, `${eol}\t`, `${eol}${eol}      `];
  const comments = [`// their, "note" }${eol}`, '/* their { note */', `/* two${eol}lines */`];
  const gap = (): string => {
    const white = gaps[pick(gaps.length)] ?? '';
    if (dialect === 'json' || pick(6) > 0) return white;
    return `${white}${comments[pick(comments.length)]}${gaps[pick(gaps.length)]}`;
  };
  const list = (parts: string[], [open, close]: readonly [string, string]): string => {
    const last = dialect === 'jsonc' && parts.length > 0 && pick(3) === 0 ? `,${gap()}` : '';
    return `${open}${gap()}${parts.join(`${gap()},${gap()}`)}${gap()}${last}${close}`;
  };
  const write = (part: Json): string => {
    if (Array.isArray(part)) return list(part.map(write), ['[', ']']);
    if (typeof part !== 'object' || part === null) return JSON.stringify(part);
    const pairs = Object.entries(part).map(
      ([key, each]) => `${JSON.stringify(key)}${gap()}:${gap()}${write(each)}`,
    );
    return list(pairs, ['{', '}']);
  };
  return `${bom ? '\uFEFF' : ''}${gap()}${write(value)}${gap()}`;
}

const valueIn = (text: string, dialect: Dialect): Json => {
  const document = readDocument(text, dialect);
  if (isRefusal(document))
    throw new Error(`${document.problem} at ${document.line}:${document.column}\n${text}`);
  return document.value;
};

function merged(text: string | undefined, dialect: Dialect): Merged {
  const result = merge(text, entries, dialect);
  if (isRefusal(result)) throw new Error(`${result.problem} at ${result.line}:${result.column}\n${text}`);
  return result;
}

function unmerged(text: string, added: readonly Added[], dialect: Dialect): string {
  const result = unmerge(text, added, dialect);
  if (isRefusal(result)) throw new Error(`${result.problem} at ${result.line}:${result.column}\n${text}`);
  return result.text;
}

type Tree = { [key: string]: Json };
const isTree = (value: Json | undefined): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The same in plain values: nothing of ours, and no group that is empty. */
function bare(value: Json): Json {
  const copy = structuredClone(value);
  if (!isTree(copy)) return copy;
  for (const {
    kind,
    path: [first = '', second],
    value: ours,
  } of entries) {
    const outer = copy[first];
    if (second === undefined) {
      if (sameJson(outer, ours)) delete copy[first];
      continue;
    }
    if (!isTree(outer)) continue;
    const inner = outer[second];
    if (kind === 'value') delete outer[second];
    else if (Array.isArray(inner)) outer[second] = inner.filter((item) => !sameJson(item, ours));
    if (sameJson(outer[second], [])) delete outer[second];
    if (Object.keys(outer).length === 0) delete copy[first];
  }
  return copy;
}

/** Every character of `part`, in its order, is in `whole`. */
function isWithin(part: string, whole: string): boolean {
  let at = 0;
  for (let place = 0; place < whole.length; place++) if (whole[place] === part[at]) at++;
  return at >= part.length;
}

const file = fc.tuple(settings, hand).map(([value, by]) => ({ text: typed(value, by), by }));
const noStepfast = (text: string): boolean => !text.includes('"stepfast"');

describe('[pain 20] entries in other people’s settings', () => {
  test('whatever was theirs stands there afterwards, word for word and in value', () => {
    fc.assert(
      fc.property(file, ({ text, by: { dialect } }) => {
        const { text: after, kept } = merged(text, dialect);
        expect(sameJson(bare(valueIn(after, dialect)), bare(valueIn(text, dialect)))).toBe(true);
        if (noStepfast(text)) expect(isWithin(text, after)).toBe(true);
        const value = valueIn(after, dialect);
        for (const { path, kind, value: ours } of entries.filter((entry) => !kept.includes(entry))) {
          const found = path.reduce(
            (part: Json | undefined, key) => (isTree(part) ? part[key] : undefined),
            value,
          );
          const there = Array.isArray(found) && kind === 'item' ? found : [found ?? null];
          expect(there.some((item) => sameJson(item, ours))).toBe(true);
        }
      }),
      { numRuns: 400 },
    );
  });

  test('twice is the same as once', () => {
    fc.assert(
      fc.property(file, ({ text, by: { dialect } }) => {
        const once = merged(text, dialect).text;
        expect(merged(once, dialect).text).toBe(once);
      }),
      { numRuns: 200 },
    );
  });

  test('taken out again, nothing of ours is left and everything of theirs is, also after they went on typing', () => {
    fc.assert(
      fc.property(file, fc.boolean(), ({ text, by: { dialect } }, touched) => {
        const { text: after, added } = merged(text, dialect);
        const later = touched ? withTheirs(after, dialect) : after;
        const left = unmerged(later, added, dialect);
        const expected = touched ? { ...tree(valueIn(text, dialect)), later: true } : valueIn(text, dialect);
        expect(sameJson(bare(valueIn(left, dialect)), bare(expected))).toBe(true);
        expect(sameJson(bare(valueIn(left, dialect)), withoutEmpty(valueIn(left, dialect)))).toBe(true);
        if (noStepfast(text)) expect(isWithin(squeezed(text), squeezed(left))).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  test('every byte comes back where nobody wrote since, also after installing twice', () => {
    fc.assert(
      fc.property(file, ({ text, by: { dialect } }) => {
        const once = merged(text, dialect);
        const kept = remember(
          undefined,
          { path: '', start: text, end: once.text, added: once.added },
          dialect,
        );
        expect(restored(once.text, kept, dialect)).toBe(text);
        const twice = merged(once.text, dialect);
        const end = { path: '', start: once.text, end: twice.text, added: twice.added };
        expect(restored(twice.text, remember(kept, end, dialect), dialect)).toBe(text);
      }),
      { numRuns: 300 },
    );
  });

  test('every byte comes back where the host writes the file anew each time, in any order', () => {
    fc.assert(
      fc.property(file, fc.integer(), fc.boolean(), ({ text, by: { dialect } }, turn, isKnown) => {
        fc.pre(!text.includes('"stepfast"') && !text.includes('statusLine'));
        const written = rewritten(merged(text, dialect).text, dialect, turn);
        const first = settle({ start: text, written, known: undefined }, dialect);
        const { text: after, kept } = isKnown
          ? settle(
              { start: first.text, written: rewritten(first.text, dialect, turn), known: first.kept },
              dialect,
            )
          : first;
        expect(isWithin(text, after)).toBe(true);
        const wanted = restored(after, kept, dialect);
        expect(wanted).toBe(text);
        const groups = withoutGroups(valueIn(after, dialect));
        expect(isSameBut(rewritten(JSON.stringify(groups), dialect, turn), text, entries, dialect)).toBe(
          true,
        );
        expect(withoutOurs(text, written, entries, dialect)).toBe(text);
      }),
      { numRuns: 150 },
    );
  });

  test('what somebody writes while the host is at work stays, and nothing of ours', () => {
    fc.assert(
      fc.property(file, fc.integer(), ({ text, by: { dialect } }, turn) => {
        fc.pre(!text.includes('"stepfast"') && !text.includes('statusLine'));
        const written = withTheirs(rewritten(merged(text, dialect).text, dialect, turn), dialect);
        const { text: after, kept } = settle({ start: text, written, known: undefined }, dialect);
        const left = restored(after, kept, dialect);
        const expected = { ...tree(valueIn(text, dialect)), later: true };
        for (const each of [left, withoutOurs(text, written, entries, dialect)])
          expect(isSameBut(String(each), JSON.stringify(expected), entries, dialect)).toBe(true);
        expect(
          sameJson(bare(valueIn(String(left), dialect)), withoutEmpty(valueIn(String(left), dialect))),
        ).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  test('a file that is not there is made, and a file with nothing in it filled', () => {
    for (const text of [undefined, '', ' \n', '\uFEFF']) {
      const { text: after, added } = merged(text, 'json');
      expect(() => JSON.parse(after.replace('\uFEFF', ''))).not.toThrow();
      expect(valueIn(unmerged(after, added, 'json'), 'json')).toEqual({});
    }
  });
});

function settle(
  change: { start: string; written: string; known: Parameters<typeof remember>[0] },
  dialect: Dialect,
): NonNullable<ReturnType<typeof settled>> {
  const result = settled({ path: '', ...change }, { wanted: [], entries }, dialect);
  if (!result) throw new Error(`nothing of ours in\n${change.written}`);
  return result;
}

/** By a host that reads values and writes them its own way. */
function rewritten(text: string, dialect: Dialect, turn: number): string {
  const pairs = Object.entries(tree(valueIn(text, dialect)));
  const at = pairs.length === 0 ? 0 : Math.abs(turn) % pairs.length;
  return JSON.stringify(Object.fromEntries([...pairs.slice(at), ...pairs.slice(0, at)]), null, 2);
}

/** What a host leaves that takes its own entries out: ours are gone, their groups are empty. */
function withoutGroups(value: Json): Json {
  const copy = structuredClone(tree(value));
  for (const { path, kind, value: ours } of entries) {
    const [first = '', second] = path;
    const outer = copy[first];
    if (second === undefined || !isTree(outer)) continue;
    const inner = outer[second];
    if (kind === 'value') delete outer[second];
    else if (Array.isArray(inner)) outer[second] = inner.filter((item) => !sameJson(item, ours));
  }
  return copy;
}

const tree = (value: Json): Tree => (isTree(value) ? value : {});

function withTheirs(text: string, dialect: Dialect): string {
  const result = merge(text, [theirs], dialect);
  if (isRefusal(result)) throw new Error(result.problem);
  return result.text;
}

const theirs: Entry = { kind: 'value', path: ['later'], value: true };

/** White space around what goes may go with it. */
const squeezed = (text: string): string => text.replace(/\s/g, '');

/** Groups of ours that were empty before we came stay, so they are left out of the comparison. */
function withoutEmpty(value: Json): Json {
  const copy = structuredClone(value);
  if (!isTree(copy)) return copy;
  for (const [first = '', second] of entries.map(({ path }) => path)) {
    const outer = copy[first];
    if (second === undefined || !isTree(outer)) continue;
    if (sameJson(outer[second], [])) delete outer[second];
    if (Object.keys(outer).length === 0) delete copy[first];
  }
  return copy;
}
