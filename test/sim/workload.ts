import type { Definition, Gate, Step, SubStep } from '../../src/machine/index.ts';
import type { Dice } from '../properties/dice.ts';

/** A small workflow: one to three steps of every kind, some with gates. */
export function randomWorkflow(dice: Dice): Definition {
  const loops: Record<string, SubStep[]> = {};
  const steps = Array.from({ length: 1 + dice.roll(dice.one(4) ? 3 : 2) }, (_, index): Step => {
    const id = `s${index}`;
    const common = { id, ...(dice.one(6) ? { context: 'compact' as const } : {}) };
    const work = { instructions: 'Work', on_fail: 'retry' as const, ...gates(dice) };
    switch (dice.roll(5)) {
      case 0:
        return { ...common, ...work, type: 'ralph', n: 1 + dice.roll(2), ...(dice.one(3) ? until : {}) };
      case 1:
      case 2: {
        const subSteps = 1 + dice.roll(2);
        loops[id] = Array.from({ length: subSteps }, (_, sub) => ({
          id: `b${sub}`,
          instructions: 'Work on {task.title}',
          on_fail: dice.one(3) ? ('skip' as const) : ('retry' as const),
          ...gates(dice),
        }));
        return { ...common, type: 'loop', loop: id, parallel: dice.one(2) ? 1 : 3 };
      }
      default:
        return {
          ...common,
          ...work,
          type: 'action',
          ...(dice.one(8) ? { review: { by: 'human' } } : {}),
        };
    }
  });
  return { name: 'sim', description: 'A small workflow', loops, steps };
}

const until = { until: [{ exists: 'DONE' }] };

const gates = (dice: Dice): { gate?: Gate[] } => (dice.one(3) ? { gate: [{ run: 'make' }] } : {});
