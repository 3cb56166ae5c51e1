/**
 * The `pattern` of an input: a regular expression with the syntax of JavaScript that must match the whole value. It is
 * matched by following all its alternatives at once, so that the time is at most length of value × size of pattern: no
 * pattern of a workflow and no value of an agent can keep the machine busy. What cannot be matched so is refused:
 * lookarounds, backreferences, word boundaries, and repetitions of more than `mostStates`.
 */

const longestPattern = 200;
/** A longer value does not match. */
export const longestMatched = 1000;
const mostStates = 4000;

type PatternProblem = 'too_long' | 'syntax' | 'unsafe';

/** Why a text cannot be a `pattern`; undefined if it can. */
export function patternProblem(source: string): PatternProblem | undefined {
  const read = readPattern(source);
  return typeof read === 'string' ? read : undefined;
}

/** Whether the pattern matches all of the value. A pattern with a problem matches nothing. */
export function matchesPattern(source: string, value: string): boolean {
  if (value.length > longestMatched) return false;
  const read = readPattern(source);
  return typeof read !== 'string' && follow(compile(read), [...value]);
}

type Part =
  | { kind: 'one'; is: (character: string) => boolean }
  | { kind: 'start' | 'end' }
  | { kind: 'all'; parts: Part[] }
  | { kind: 'any'; parts: Part[] }
  | { kind: 'repeat'; part: Part; min: number; max: number };

const unsupported = /^(?:\(\?(?!:|<[^=!])|\\[bBk1-9])/;
const group = /^\((?:\?:|\?<[^>]*>)?/;
const atom =
  /^(?:\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\[pPu]\{[^}]*\}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\c[A-Za-z]|\\.|\[(?:\\.|[^\]\\])*\]|[^\\])/su;
const quantifier = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/;

function readPattern(source: string): Part | PatternProblem {
  if (source.length > longestPattern) return 'too_long';
  if (!compiles(source)) return 'syntax';
  let rest = source;
  let unsafe = false;
  const tests = new Map<string, (character: string) => boolean>();

  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    const found = pattern.exec(rest) ?? undefined;
    rest = rest.slice(found?.[0].length ?? 0);
    return found;
  };

  const refused = (): Part => {
    unsafe = true;
    return { kind: 'start' };
  };

  function alternatives(): Part {
    const parts = [sequence()];
    while (take(/^\|/)) parts.push(sequence());
    return { kind: 'any', parts };
  }

  function sequence(): Part {
    const parts: Part[] = [];
    while (rest !== '' && !/^[|)]/.test(rest) && !unsafe) parts.push(repeated(single()));
    return { kind: 'all', parts };
  }

  function single(): Part {
    if (unsupported.test(rest)) return refused();
    if (take(/^\^/)) return { kind: 'start' };
    if (take(/^\$/)) return { kind: 'end' };
    if (take(group)) {
      const inner = alternatives();
      take(/^\)/);
      return inner;
    }
    const [text] = take(atom) ?? [];
    // Never so in what compiles; it would be read for ever.
    if (text === undefined) return refused();
    const is = tests.get(text) ?? oneCharacter(text);
    tests.set(text, is);
    return { kind: 'one', is };
  }

  function repeated(part: Part): Part {
    const found = take(quantifier);
    if (!found) return part;
    const [, sign, min = '', comma, max = ''] = found;
    if (sign !== undefined)
      return { kind: 'repeat', part, min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Infinity };
    const least = Number(min);
    return {
      kind: 'repeat',
      part,
      min: least,
      max: comma === '' ? least : max === '' ? Infinity : Number(max),
    };
  }

  const whole = alternatives();
  return unsafe || rest !== '' || sizeOf(whole) > mostStates ? 'unsafe' : whole;
}

function compiles(source: string): boolean {
  try {
    new RegExp(source, 'u');
    return true;
  } catch {
    return false;
  }
}

/** A character, an escape or a class: of one character, so nothing can be tried twice. */
function oneCharacter(source: string): (character: string) => boolean {
  const pattern = new RegExp(`^(?:${source})$`, 'u');
  const known = new Map<string, boolean>();
  return (character) => {
    const found = known.get(character) ?? pattern.test(character);
    known.set(character, found);
    return found;
  };
}

/** How many states it has, before they are created. */
function sizeOf(part: Part): number {
  switch (part.kind) {
    case 'all':
    case 'any':
      return part.parts.reduce((sum, each) => sum + sizeOf(each) + 2, 0);
    case 'repeat':
      return (sizeOf(part.part) + 2) * Math.max(1, Number.isFinite(part.max) ? part.max : part.min + 1);
    default:
      return 1;
  }
}

/** Without `is` and `at`: goes on without a character. */
interface PatternState {
  is?: (character: string) => boolean;
  at?: 'start' | 'end';
  next: PatternState[];
}

/** From the last state back to the first. */
function compile(part: Part, next: PatternState = { next: [] }): PatternState {
  switch (part.kind) {
    case 'one':
      return { is: part.is, next: [next] };
    case 'start':
    case 'end':
      return { at: part.kind, next: [next] };
    case 'all':
      return part.parts.reduceRight((after, each) => compile(each, after), next);
    case 'any':
      return { next: part.parts.map((each) => compile(each, next)) };
    case 'repeat': {
      const { min, max } = part;
      let state = next;
      if (max === Infinity) {
        const again: PatternState = { next: [next] };
        again.next.push(compile(part.part, again));
        state = again;
      } else
        for (let count = min; count < max; count += 1) state = { next: [next, compile(part.part, state)] };
      for (let count = 0; count < min; count += 1) state = compile(part.part, state);
      return state;
    }
  }
}

function follow(first: PatternState, characters: readonly string[]): boolean {
  let states = [first];
  for (let index = 0; ; index += 1) {
    const reached = reach(states, index === 0, index === characters.length);
    const character = characters[index];
    // Only the last state leads nowhere.
    if (character === undefined) return reached.some(({ next }) => next.length === 0);
    states = reached.flatMap(({ is, next }) => (is?.(character) ? next : []));
    if (states.length === 0) return false;
  }
}

/** Each state once, with those that follow without a character. */
function reach(from: readonly PatternState[], atStart: boolean, atEnd: boolean): PatternState[] {
  const reached = new Set<PatternState>(from);
  for (const { is, at, next } of reached) {
    if (is || (at === 'start' && !atStart) || (at === 'end' && !atEnd)) continue;
    for (const each of next) reached.add(each);
  }
  return [...reached];
}
