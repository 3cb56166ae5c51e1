/** Our entries in other people's settings: random files with comments, hooks and any formatting. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Dialect,
  type Entry,
  isRefusal,
  type Json,
  ownersText,
  readDocument,
  restored,
  type SettingsRefusal,
  sameJson,
  settled,
  withEntries,
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
  /** Some keys are there twice; the second one counts. */
  twice: boolean;
}

const hand: fc.Arbitrary<Hand> = fc.record({
  dialect: fc.constantFrom<Dialect>('json', 'jsonc'),
  choices: fc.array(fc.nat(99), { minLength: 1, maxLength: 40 }),
  eol: fc.constantFrom('\n', '\r\n'),
  bom: fc.boolean(),
  twice: fc.nat(9).map((one) => one === 0),
});

function typed(value: Json, { dialect, choices, eol, bom, twice }: Hand): string {
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
    const pairs = Object.entries(part).flatMap(([key, each]) => {
      const pair = `${JSON.stringify(key)}${gap()}:${gap()}${write(each)}`;
      return twice && pick(3) === 0 ? [`${JSON.stringify(key)}:{"hooks":1}`, pair] : [pair];
    });
    return list(pairs, ['{', '}']);
  };
  return `${bom ? '\uFEFF' : ''}${gap()}${write(value)}${gap()}`;
}

const file = fc.tuple(settings, hand).map(([value, by]) => ({ text: typed(value, by), by }));

function valueIn(text: string | null, dialect: Dialect): Json {
  const document = readDocument(text ?? '', dialect);
  if (isRefusal(document)) throw new Error(sayRefusal(document, text));
  return document.value;
}

const sayRefusal = ({ problem, line, column }: SettingsRefusal, text: unknown): string =>
  `${problem} at ${line}:${column}\n${text}`;

function accepted<T extends object | string | null>(result: T | SettingsRefusal): T {
  if (isRefusal(result)) throw new Error(sayRefusal(result, ''));
  return result;
}

const withOurs = (text: string | null, dialect: Dialect): string =>
  String(accepted(withEntries(text, entries, dialect)));

const restoredFrom = (now: string | null, before: string | null, dialect: Dialect): string | null =>
  accepted(restored(now, { before, entries }, dialect));

type Tree = { [key: string]: Json };
const isTree = (value: Json | undefined): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const treeAt = (value: Json | undefined, key: string): Tree => {
  const part = isTree(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return isTree(part) ? part : {};
};

/** What the owner does to the settings while Stepfast is installed: also right beside our entries. */
const owners = fc.subarray([
  (value: Json): Json => ({ ...tree(value), later: true }),
  (value: Json): Json => ({ ...tree(value), mcpServers: { later: null, ...treeAt(value, 'mcpServers') } }),
  (value: Json): Json => ({
    ...tree(value),
    enabledPlugins: { ...treeAt(value, 'enabledPlugins'), later: [] },
  }),
  (value: Json): Json => {
    const hooks = treeAt(value, 'hooks');
    const stop = Array.isArray(hooks.Stop) ? hooks.Stop : [];
    return { ...tree(value), hooks: { ...hooks, Stop: [hook('later'), ...stop] } };
  },
]);
const tree = (value: Json): Tree => (isTree(value) ? value : {});
const changedBy = (value: Json, changes: readonly ((value: Json) => Json)[]): Json =>
  changes.reduce((now, change) => change(now), value);

/** What a host leaves that removes its own entries: ours are gone, and the groups that they were in are empty. */
function withoutOurs(value: Json): Json {
  const copy = structuredClone(tree(value));
  for (const { path, kind, value: ours } of entries) {
    const [first = '', second] = path;
    const outer = second === undefined ? copy : copy[first];
    const key = second ?? first;
    if (!isTree(outer)) continue;
    const inner = outer[key];
    if (kind === 'item')
      outer[key] = Array.isArray(inner) ? inner.filter((item) => !sameJson(item, ours)) : [];
    else if (second !== undefined || sameJson(inner, ours)) delete outer[key];
  }
  return copy;
}

/** Every character of `part`, in its order, is in `whole`. */
function isWithin(part: string, whole: string): boolean {
  let at = 0;
  for (let place = 0; place < whole.length; place++) if (whole[place] === part[at]) at++;
  return at >= part.length;
}

/** Lines that an entry is added to are formatted. */
const squeezed = (text: string): string => text.replace(/\s/g, '');

const isNew = (text: string): boolean => !text.includes('"stepfast"') && !text.includes('"statusLine"');

describe('[pain 20] entries in other people’s settings', () => {
  test('every value of theirs is there afterwards, and every character', () => {
    fc.assert(
      fc.property(file, ({ text, by: { dialect, twice } }) => {
        const after = withOurs(text, dialect);
        const [was, value] = [valueIn(text, dialect), valueIn(after, dialect)];
        if (!twice && !text.includes('"stepfast"'))
          expect(isWithin(squeezed(text), squeezed(after))).toBe(true);
        expect(value).toEqual(withEachOfOurs(was));
      }),
      { numRuns: 200 },
    );
  });

  test('twice is the same as once', () => {
    fc.assert(
      fc.property(file, ({ text, by: { dialect } }) => {
        const once = withOurs(text, dialect);
        expect(withOurs(once, dialect)).toBe(once);
      }),
      { numRuns: 100 },
    );
  });

  test('every byte comes back where no value changed since, however the file is written then', () => {
    fc.assert(
      fc.property(file, hand, fc.boolean(), ({ text, by: { dialect } }, by, isRemoved) => {
        const after = withOurs(text, dialect);
        expect(restoredFrom(after, text, dialect)).toBe(text);
        const value = valueIn(after, dialect);
        const now = isRemoved && isNew(text) ? withoutOurs(value) : value;
        expect(restoredFrom(typed(now, { ...by, dialect }), text, dialect)).toBe(text);
      }),
      { numRuns: 200 },
    );
  });

  test('what the owner changed since stays, and nothing of ours', () => {
    fc.assert(
      fc.property(file, owners, fc.option(hand), ({ text, by: { dialect } }, changes, by) => {
        const after = withOurs(text, dialect);
        const value = changedBy(valueIn(after, dialect), changes);
        const later = by ? typed(value, { ...by, dialect }) : typedInto(after, changes, dialect);
        const left = restoredFrom(later, text, dialect);
        expect(valueIn(left, dialect)).toEqual(changedBy(valueIn(text, dialect), changes));
      }),
      { numRuns: 200 },
    );
  });

  test('a host that writes the file anew leaves it as its owner typed it, with our entries', () => {
    fc.assert(
      fc.property(file, hand, fc.boolean(), ({ text, by: { dialect } }, by, isAgain) => {
        const original = { before: text, entries };
        const anew = (now: string): string => typed(valueIn(now, dialect), { ...by, dialect });
        const first = accepted(settled(anew(withOurs(text, dialect)), original, [], dialect));
        expect(first).toEqual({ text: withOurs(text, dialect), before: text });
        if (isAgain) expect(settled(anew(String(first.text)), original, [], dialect)).toEqual(first);
      }),
      { numRuns: 100 },
    );
  });

  test('what the owner writes while the host is at work stays, and nothing of ours', () => {
    fc.assert(
      fc.property(file, hand, owners, ({ text, by: { dialect } }, by, changes) => {
        const value = changedBy(valueIn(withOurs(text, dialect), dialect), changes);
        const original = { before: text, entries };
        const { text: after, before } = accepted(
          settled(typed(value, { ...by, dialect }), original, entries, dialect),
        );
        const expected = changedBy(valueIn(text, dialect), changes);
        expect(valueIn(before, dialect)).toEqual(expected);
        expect(valueIn(after, dialect)).toEqual(valueIn(withOurs(before, dialect), dialect));
        expect(restoredFrom(after, before, dialect)).toBe(before);
      }),
      { numRuns: 100 },
    );
  });

  test('without a record everything with our name goes, and everything of theirs stays', () => {
    fc.assert(
      fc.property(file, ({ text, by: { dialect } }) => {
        if (isNew(text)) expect(ownersText(text, undefined, entries, dialect)).toBe(text);
        const left = accepted(ownersText(withOurs(text, dialect), undefined, entries, dialect));
        const theirs = withoutOurs(valueIn(text, dialect));
        expect(withoutEmpty(valueIn(left, dialect))).toEqual(withoutEmpty(theirs));
      }),
      { numRuns: 100 },
    );
  });

  test.each([null, '', ' \n', '\uFEFF', '{}', '\uFEFF{ }\r\n'])(
    'a file that holds %j gets them, and is as before afterwards',
    (text) => {
      const after = withOurs(text, 'json');
      expect(() => JSON.parse(after.replace('\uFEFF', ''))).not.toThrow();
      expect(restoredFrom(after, text, 'json')).toBe(text);
    },
  );

  test.each([
    '{"mcpServers": {"other": null, // mine\n"stepfast": null/* two\nlines */,\n// last\n}}',
    '{"mcpServers": {"other": null/* two\nlines */,\n// mine\n"stepfast": null/* two\nlines */,\n// mine\n}}',
  ])(
    '[R9] an entry of ours that was null, among comments and before a comma at the end, is removed from %j',
    (text) => {
      const after = withOurs(text, 'jsonc');
      expect(restoredFrom(after, text, 'jsonc')).toBe(text);
      const unrecorded = accepted(ownersText(after, undefined, entries, 'jsonc'));
      expect(valueIn(unrecorded, 'jsonc')).toEqual({ mcpServers: { other: null } });
      const later = after.replace('"other": null', '"other": 1');
      expect(valueIn(restoredFrom(later, text, 'jsonc'), 'jsonc')).toEqual({
        mcpServers: { other: 1, stepfast: null },
      });
    },
  );
});

/** The changes, typed into the text: each is one value more at a path. */
function typedInto(text: string, changes: readonly ((value: Json) => Json)[], dialect: Dialect): string {
  const value = changedBy(valueIn(text, dialect), changes);
  const into = Object.entries(tree(value)).map(
    ([key, each]): Entry => ({ kind: 'value', path: [key], value: each, named: true }),
  );
  return String(accepted(withEntries(text, into, dialect)));
}

function withEachOfOurs(value: Json): Json {
  const [start, stop, server, plugin, line] = entries.map((entry) => entry.value);
  const hooks = treeAt(value, 'hooks');
  const listOf = (key: string): Json[] => (Array.isArray(hooks[key]) ? hooks[key] : []);
  return {
    statusLine: line ?? null,
    ...tree(value),
    hooks: {
      ...hooks,
      SessionStart: [...listOf('SessionStart'), start ?? null],
      Stop: [...listOf('Stop'), stop ?? null],
    },
    mcpServers: { ...treeAt(value, 'mcpServers'), stepfast: server ?? null },
    enabledPlugins: { ...treeAt(value, 'enabledPlugins'), 'stepfast@stepfast': plugin ?? null },
  };
}

/** Without a record, a group that is empty is not known to be the owner's. */
function withoutEmpty(value: Json): Json {
  const copy = structuredClone(tree(value));
  for (const [first = '', second = ''] of entries.map(({ path }) => path)) {
    const outer = copy[first];
    if (!isTree(outer) || second === '') continue;
    if (sameJson(outer[second], [])) delete outer[second];
    if (Object.keys(outer).length === 0) delete copy[first];
  }
  return copy;
}
