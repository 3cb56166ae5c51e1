import type { BoundaryPolicy } from '../../src/schema/index.ts';
import { action, cursor, Run, workflow } from './run.ts';

export const start = (policy: BoundaryPolicy, parts: { context?: 'clear' | 'compact' } = {}): Run => {
  const definition = workflow([action('plan', { context: parts.context ?? 'clear' }), action('build')], {
    boundaries: policy,
    stop: 'hold',
  });
  const run = new Run(definition, { start: false });
  run.send({ type: 'start', run: 'demo-1-abc', session: 'A' });
  return run;
};

/** `require` needs a session that can report a reset. */
export const required = (parts: { context?: 'clear' | 'compact' } = {}): Run => {
  const definition = workflow(
    [action('intro'), action('plan', { context: parts.context ?? 'clear' }), action('build')],
    {
      boundaries: 'require',
      stop: 'hold',
    },
  );
  const run = new Run(definition);
  run.witness('A');
  run.advance('introduced', { session: 'A' });
  return run;
};

export const boundary = (run: Run) => cursor(run)?.boundary;
