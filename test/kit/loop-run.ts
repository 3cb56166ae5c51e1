import type { Definition, SubStep } from '../../src/schema/index.ts';
import { action, loop, Run, workflow } from './run.ts';

export const build = (
  parallel: number,
  subSteps: SubStep[] = [{ id: 'code', instructions: 'Code {task.title}' }],
): Definition =>
  workflow([loop('build', parallel === 1 ? {} : { parallel }), action('end')], {
    loops: { build: subSteps },
  });

export const several = (): Run => {
  const run = new Run(build(3));
  run.tasks('build', 'a', 'b', 'c', 'd');
  return run;
};
