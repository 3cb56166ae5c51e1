import fc from 'fast-check';
import type { Definition, Gate, Step, SubStep } from '../../src/machine/index.ts';

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const context = fc.constantFrom('compact' as const, 'clear' as const);

const check: fc.Arbitrary<Gate> = fc.oneof(
  fc.record({ run: fc.constantFrom('npm test', 'make') }),
  fc
    .record({ expect: maybe(fc.constant('fail' as const)), contains: maybe(fc.constant('Error')) })
    .map((parts) => defined({ run: 'npm test', ...parts })),
  fc.record({ run: fc.constant('npm run lint'), rerun: fc.constant(true) }),
  fc.record({ exists: fc.constant('PLAN.md') }),
  fc.record({ condition: fc.constant('inputs.x != null') }),
);
const checks = fc.array(check, { minLength: 1, maxLength: 2 });
const baseline = fc
  .record({ expect: maybe(fc.constant('fail' as const)), rerun: maybe(fc.constant(true)) })
  .map(({ expect, rerun }) =>
    defined<Gate>({ run: 'npm run types', baseline: true, expect, rerun: expect ? undefined : rerun }),
  );
const gates = fc.array(fc.oneof({ weight: 4, arbitrary: check }, baseline), { minLength: 1, maxLength: 2 });

const when = maybe(fc.constant('inputs.x'));

const retry = <T extends string>(then: fc.Arbitrary<T>) =>
  fc.record({ retry: fc.integer({ min: 1, max: 3 }), then });

/** What `fittingOutput` fits. */
const format = {
  output: maybe(fc.constant('json' as const)),
  schema: maybe(fc.constant({ type: 'object', required: ['n'], properties: { n: { type: 'integer' } } })),
};

const subStep = (index: number): fc.Arbitrary<SubStep> =>
  fc
    .record({
      on_fail: maybe(
        fc.oneof(
          fc.constantFrom('retry' as const, 'skip' as const, 'abort' as const),
          retry(fc.constantFrom('skip' as const, 'abort' as const, 'wait' as const)),
        ),
      ),
      attempts: maybe(fc.integer({ min: 1, max: 3 })),
      context: maybe(context),
      gate: maybe(gates),
      agent: maybe(fc.constant('reviewer')),
      read_only: maybe(fc.constant(true)),
      when,
      ...format,
    })
    .map((parts) => defined({ id: `sub${index}`, instructions: 'Do {task.title}', ...parts }));

const step = (index: number): fc.Arbitrary<{ step: Step; loop?: SubStep[] }> => {
  const id = `s${index}`;
  const earlier = fc.integer({ min: 0, max: index }).map((target) => `s${target}`);
  const common = {
    when,
    context: maybe(context),
    budget: maybe(fc.record({ turns: fc.integer({ min: 1, max: 3 }), on_pivot: earlier })),
  };
  const work = {
    ...common,
    gate: maybe(gates),
    review: maybe(fc.record({ by: fc.constantFrom('human', 'reviewer'), on_pivot: earlier })),
    on_fail: maybe(
      fc.oneof(
        fc.constantFrom('retry' as const, 'abort' as const),
        retry(fc.constantFrom('abort' as const, 'wait' as const)),
      ),
    ),
    attempts: maybe(fc.integer({ min: 1, max: 3 })),
    read_only: maybe(fc.constant(true)),
    ...format,
  };
  const action = fc
    .record(work)
    .map((parts) => ({ step: defined<Step>({ id, type: 'action', instructions: 'Act', ...parts }) }));
  const run = fc
    .record({
      when,
      gate: maybe(gates),
      on_fail: work.on_fail,
      attempts: work.attempts,
      idempotent: maybe(fc.constant(true)),
    })
    .map((parts) => ({ step: defined<Step>({ id, type: 'action', run: 'make all', ...parts }) }));
  const ralph = fc
    .record({
      ...work,
      n: fc.integer({ min: 1, max: 3 }),
      until: maybe(checks),
      on_exhausted: maybe(fc.constantFrom('complete' as const, 'wait' as const, 'fail' as const)),
    })
    .map(({ on_exhausted, ...parts }) => ({
      step: defined<Step>({
        id,
        type: 'ralph',
        instructions: 'Again',
        ...parts,
        on_exhausted: parts.until && on_exhausted,
      }),
    }));
  const loop = fc
    .record({
      parts: fc.record({
        ...common,
        tasks: maybe(
          fc.constantFrom({ files: 'src/*' }, { json: 't.json', min: 1, locked: true }, { max: 4 }),
        ),
        parallel: maybe(fc.integer({ min: 1, max: 3 })),
      }),
      loop: fc
        .integer({ min: 1, max: 3 })
        .chain((n) => fc.tuple(...Array.from({ length: n }, (_, i) => subStep(i)))),
    })
    .map(({ parts, loop }) => ({ step: defined<Step>({ id, type: 'loop', loop: id, ...parts }), loop }));
  return fc.oneof(action, ralph, run, { weight: 2, arbitrary: loop });
};

/** A valid, resolved workflow of one to five steps. */
export const workflow: fc.Arbitrary<Definition> = fc
  .record({
    steps: fc
      .integer({ min: 1, max: 5 })
      .chain((n) => fc.tuple(...Array.from({ length: n }, (_, index) => step(index)))),
    boundaries: maybe(fc.constantFrom('prefer' as const, 'require' as const, 'off' as const)),
    transition: maybe(context),
    stop: maybe(fc.constant('hold' as const)),
    finally: maybe(
      fc.record({ id: fc.constant('c0'), run: fc.constant('make clean') }).map((step) => [step]),
    ),
  })
  .map(({ steps, boundaries, transition, stop, finally: cleanup }) => {
    const definition = defined<Definition>({
      name: 'random',
      description: 'A random workflow',
      agents: { reviewer: { description: 'Reviews' } },
      critical_artifacts: { always_load: [{ id: 'spec', type: 'markdown', path: 'spec.md' }] },
      loops: Object.fromEntries(steps.flatMap(({ step, loop }) => (loop ? [[step.id, loop]] : []))),
      steps: steps.map(({ step }) => step),
      boundaries,
      stop,
      finally: cleanup,
      transitions:
        transition && steps.length > 1 ? [{ from: 's0', to: 's1', context: transition }] : undefined,
    });
    const last = definition.steps.at(-1);
    return last?.type === 'loop' || last?.when ? withoutRerun(definition) : definition;
  });

/** Gates that run again need a last step that is no loop and is not skipped. */
function withoutRerun(definition: Definition): Definition {
  // A reviver sees every key, so the shape stays that of a Definition.
  return JSON.parse(JSON.stringify(definition), (key, value) =>
    key === 'rerun' ? undefined : value,
  ) as Definition;
}

type Loose<T> = { [K in keyof T]: T[K] | undefined };

/** Leaves out what is undefined. */
function defined<T extends object>(fields: Loose<T>): T {
  // Dropping undefined fields turns Loose<T> into T.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
