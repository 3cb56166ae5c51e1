import { action, cursor, Run, workflow } from './run.ts';

export const gated = (parts: object = {}): Run =>
  new Run(workflow([action('build', { gate: [{ run: 'npm test' }], ...parts }), action('end')]));

export const checking = (run: Run) => cursor(run)?.checking;
