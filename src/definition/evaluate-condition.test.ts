import { describe, expect, test } from 'vitest';
import { StepfastError } from '../errors.ts';
import { type ConditionContext, compileCondition } from './evaluate-condition.ts';

function evaluate(source: string, context: ConditionContext = {}): boolean {
  const condition = compileCondition(source);
  if (!condition.ok) throw new Error(condition.message);
  return condition.evaluate(context);
}
const refusal = (source: string) => {
  const condition = compileCondition(source);
  return condition.ok ? undefined : condition;
};

describe('a condition', () => {
  test.each<[string, boolean, ConditionContext]>([
    ['iteration < 3', true, { iteration: 2 }],
    ['iteration + 1 == 3', true, { iteration: 2 }],
    ['iteration >= 2.5', true, { iteration: 3 }],
    ['state.score < 0.5', true, { state: { score: 0.25 } }],
    ['state.n == 1.0', true, { state: { n: 1 } }],
    [
      'inputs.kind == "bug" && outputs.plan.contains("ok")',
      true,
      { inputs: { kind: 'bug' }, outputs: { plan: 'all ok' } },
    ],
    ['outputs["my-step"] != null', true, { outputs: { 'my-step': 'x' } }],
    ['task.id in ["a", "b"]', true, { task: { id: 'b' } }],
    ['"x" in state.tags', false, { state: { tags: ['y'] } }],
    ['state.list[1] == 5', true, { state: { list: [4, 5] } }],
    ['state.list[iteration] == 5', true, { state: { list: [4, 5] }, iteration: 1 }],
    ['(state).a == 1', true, { state: { a: 1 } }],
    ['state.list.exists(item, item.done)', true, { state: { list: [{ done: false }, { done: true }] } }],
    ['state.list.all(item, item > iteration)', true, { state: { list: [3, 4] }, iteration: 2 }],
    ['size(state.list) == 2 && state.list.size() == 2', true, { state: { list: [3, 4] } }],
    ['state.ok ? true : false', true, { state: { ok: true } }],
    ['state.ok', false, { state: { ok: false } }],
  ])('%s gives %s', (source, expected, context) => {
    expect(evaluate(source, context)).toBe(expected);
  });

  test('[004/2] a path that is missing counts as null, however deep it is', () => {
    expect(evaluate('state.artifacts.spec_path != null', {})).toBe(false);
    expect(
      evaluate('state.artifacts.spec_path != null', { state: { artifacts: { spec_path: 'a.md' } } }),
    ).toBe(true);
    expect(evaluate('state.artifacts == null && state.artifacts.spec == null', { state: {} })).toBe(true);
    expect(evaluate('state.a.b.c == null', { state: { a: 'text' } })).toBe(true);
    expect(evaluate('task == null && inputs.x != "y"')).toBe(true);
    expect(evaluate('has(state.a.b) || !has(state.a)')).toBe(true);
    expect(evaluate('has(state.a.b)', { state: { a: { b: 0 } } })).toBe(true);
  });

  test('[004/2] === and !== are read as == and !=, but not in a text', () => {
    expect(evaluate('state.a === 1 && state.b !== 1', { state: { a: 1, b: 2 } })).toBe(true);
    expect(evaluate("state.s === 'a === b !== c'", { state: { s: 'a === b !== c' } })).toBe(true);
    expect(evaluate('state.s === "it\\"s === x"', { state: { s: 'it"s === x' } })).toBe(true);
  });

  const artifacts = (spec_path: unknown) => ({ state: { artifacts: { spec_path } } });

  test.each<[string, boolean, ConditionContext]>([
    ['$.artifacts.spec_path', true, artifacts('a.md')],
    ['$.artifacts.spec_path', false, {}],
    ['$.artifacts.spec_path != null && "$.x" != "state.x"', true, artifacts('a.md')],
    ['state.artifacts.spec_path', true, artifacts('a.md')],
    ['state.artifacts.spec_path', false, artifacts('')],
    ['state.artifacts.spec_path', false, artifacts(null)],
    ['!!state.artifacts.spec_path', true, artifacts('a.md')],
    ['!!state.artifacts.spec_path', false, {}],
    ['!state.artifacts.spec_path', true, {}],
    ['!!(state.x)', true, { state: { x: 1 } }],
    ['state.x && (state.y || inputs.z)', true, { state: { x: 'a' }, inputs: { z: 2 } }],
    ['state.x ? state.y : state.z', true, { state: { z: 'a' } }],
    ['state.x == "a" ? state.y : false', false, { state: { x: 'a', y: 0 } }],
    ['state.list.length > 0', true, { state: { list: [1] } }],
    ['state.list.length > 0', false, { state: { list: [] } }],
    ['state.list.length > 0', false, {}],
    ['state.list.length', false, {}],
    ['state.text.length == 3', true, { state: { text: 'abc' } }],
    ['state.box.length == 7', true, { state: { box: { length: 7 } } }],
    ['inputs.list.all(item, state.x && item > 0)', true, { inputs: { list: [1] }, state: { x: 'a' } }],
  ])('M7: %s gives %s', (source, expected, context) => {
    expect(evaluate(source, context)).toBe(expected);
  });

  test('M7: the offset of a mistake after $ is that of the file', () => {
    expect(refusal('$.a == 1 && $.b == 2 && stat.x == 1')).toMatchObject({ offset: 24 });
    expect(refusal('$.a === 1 && 1 + "a" == 2')).toMatchObject({ offset: 13 });
    expect(refusal('$ == null')).toBeDefined();
  });

  test('A4: the tasks of a loop are a list', () => {
    const tasks = {
      build: [
        { id: 'a', title: 'A', status: 'done', output: 'all ok' },
        { id: 'b', title: 'B', status: 'failed', output: null },
      ],
    };
    expect(evaluate('size(tasks.build) == 2 && tasks.build.length == 2', { tasks })).toBe(true);
    expect(evaluate('tasks.build.all(t, t.status == "done")', { tasks })).toBe(false);
    expect(evaluate('tasks.build.exists(t, t.status == "failed")', { tasks })).toBe(true);
    expect(evaluate('tasks.build[0].output.contains("ok")', { tasks })).toBe(true);
    expect(evaluate('tasks.other == null', { tasks })).toBe(true);
    const many = { build: Array.from({ length: 1_900 }, () => tasks.build[0]) };
    expect(evaluate('tasks.build.all(t, t.status == "done")', { tasks: many })).toBe(true);
  });

  test('values of different kinds are unequal, not an error', () => {
    expect(evaluate('state.a == "1"', { state: { a: 1 } })).toBe(false);
    expect(evaluate('state.a == state.b', { state: { a: [1], b: { a: 1 } } })).toBe(false);
  });

  test('says which paths it reads', () => {
    expect(compileCondition('inputs.a == outputs["b-c"] || has(state.d.e)')).toMatchObject({
      paths: [
        ['inputs', 'a'],
        ['outputs', 'b-c'],
        ['state', 'd', 'e'],
      ],
    });
  });

  test('that cannot be decided throws condition_failed with the reason', () => {
    const failure = (source: string, context: ConditionContext) => {
      try {
        evaluate(source, context);
      } catch (error) {
        return error;
      }
    };
    expect(failure('size(state.x) > 0', {})).toBeInstanceOf(StepfastError);
    expect(failure('state.x > 3', {})).toMatchObject({
      code: 'condition_failed',
      message: expect.stringContaining('"state.x > 3"'),
    });
    expect(failure('state.l.all(i, i > 0)', { state: { l: Array(5_000).fill(1) } })).toMatchObject({
      code: 'condition_failed',
    });
    expect(failure('state.l != null', { state: { l: Array(50_000).fill(1) } })).toMatchObject({
      code: 'condition_failed',
    });
  });
});

describe('a condition reaches nothing but own values', () => {
  test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'])(
    'state.%s is null',
    (name) => {
      expect(evaluate(`state["${name}"] == null`, { state: {} })).toBe(true);
      expect(evaluate(`has(state["${name}"].x)`, { state: {} })).toBe(false);
      if (name !== '__proto__') expect(evaluate(`state.${name}.${name} == null`, { state: {} })).toBe(true);
    },
  );

  test('elements of lists and text have no properties either', () => {
    expect(
      evaluate('state.list.length.x == null && state.text.at == null', { state: { list: [1], text: 'a' } }),
    ).toBe(true);
    expect(evaluate('state.list.exists(i, has(i.constructor))', { state: { list: [{}] } })).toBe(false);
  });

  test('a getter on a prototype is not called', () => {
    const trap = Object.create({
      get secret(): string {
        throw new Error('called');
      },
    });
    expect(evaluate('state.secret == null', { state: trap })).toBe(true);
  });

  test('a value of its own named constructor harms nothing', () => {
    const state = JSON.parse('{"a": {"constructor": 1, "__proto__": 2, "b": 3}, "l": [{"constructor": 1}]}');
    expect(evaluate('state.a.constructor == 1 && state.a.b == 3', { state })).toBe(true);
    expect(evaluate('state.a != null && state.l.all(i, i != null)', { state })).toBe(true);
  });
});

describe('a condition is refused when it', () => {
  test.each([
    ['calls matches on a value', 'state.x.matches("a+")', '.matches()'],
    ['calls matches as a function', 'matches(state.x, "a+")', 'matches()'],
    ['calls what is not allowed', 'timestamp("x") == null', 'timestamp()'],
    ['binds a value', 'cel.bind(x, 1, x == 1)', '.bind()'],
    ['splits a text', 'outputs.a.split("").size() == 1', '.split()'],
    ['names something unknown', 'process.exit == null', "'process'"],
    ['nests comprehensions', '[1, 2].all(x, [1, 2].all(y, y > x))', 'inside another'],
    ['hides a root', 'state.l.all(task, task > 1)', "'task'"],
    ['gives no truth value', '"a" + "b"', 'true or false'],
    ['is too long', `state.x == "${'x'.repeat(1000)}"`, '1000 characters'],
    ['has too many parts', Array(150).fill('1==1').join('||').slice(0, 998), 'maxAstNodes'],
    ['is nested too deeply', `${'('.repeat(40)}true${')'.repeat(40)}`, 'maxDepth'],
    ['holds a long list', `1 in [${Array(60).fill(1).join(',')}]`, 'maxListElements'],
    ['is empty', '', ''],
    ['is no expression', 'state.x ==', 'EOF'],
    ['is JavaScript', 'state.x?.y', ''],
  ])('%s', (_, source, message) => {
    expect(refusal(source)?.message).toContain(message);
  });

  test('the offset points at the fault, and a word is suggested', () => {
    expect(refusal('iteration < 3 && stat.x == 1')).toMatchObject({
      offset: 17,
      suggestion: "Did you mean 'state'?",
    });
    expect(refusal('state.x !== undefined')).toMatchObject({
      offset: 12,
      suggestion: "Did you mean 'null'?",
    });
    expect(refusal('state.x.startWith("a")')).toMatchObject({ suggestion: "Did you mean 'startsWith'?" });
    expect(refusal('state.abcdef === 1 && 1 + "a" == 2')).toMatchObject({ offset: 22 });
  });
});
