import { Dice } from '../../test/properties/dice.ts';

/** What a seed may bring. */
export const hazards = [
  'conflicts',
  'semantic',
  'redBase',
  'declaredWrites',
  'undeclaredWrites',
  'lockFile',
  'submodules',
  'personCommits',
  'dirtyCheckout',
  'rewound',
  'dependencies',
  'kills',
  'badAgents',
  'here',
  'notCheckedOut',
] as const;

export type Hazard = (typeof hazards)[number];

export interface TaskPlan {
  id: string;
  dependsOn: string[];
  /** How long the agent takes for each visit. */
  ms: number;
  /** What it does beside writing a file of its own. */
  does: ('shared' | 'number' | 'lock' | 'submodule' | 'unpushed')[];
  /** What it leaves to the driver to commit. */
  leaves: 'nothing' | 'all' | 'half';
  /** So many visits after its merge failed are of no use. */
  bad: number;
}

/** What the person does once so many tasks are merged. */
export interface PersonPlan {
  after: number;
  does: 'commit' | 'break' | 'makeNoise' | 'dirty' | 'rewind';
}

export interface Plan {
  seed: number;
  hazards: Hazard[];
  tasks: TaskPlan[];
  person: PersonPlan[];
  /** The merge gate takes so long. */
  gateMs: number;
  /** The sub-step has a gate of its own. */
  gated: boolean;
  retry: number;
  /** After so many milliseconds the driver is killed, each time counted from its start. */
  kills: number[];
  /** Tasks in whose worktree a person writes a file while they are merged. */
  visited: string[];
  /** The driver waits for the person; otherwise it ends and is started again. */
  stays: boolean;
}

export const parallel = 4;
export const visitedFile = 'of-visitor.txt';
const count = 40;

/** Every tenth seed is calm, the first one included. */
const isCalm = (seed: number): boolean => seed % 10 === 1;

export function planOf(seed: number): Plan {
  const dice = new Dice(seed * 7919);
  if (isCalm(seed)) return calmPlan(seed, dice);
  const on = hazards.filter((hazard) => {
    if (hazard === 'rewound') return dice.one(6);
    if (hazard === 'here' || hazard === 'notCheckedOut') return dice.one(4);
    return dice.roll(5) < 2;
  });
  // A person cannot have a branch in their checkout that is checked out nowhere.
  const not: Hazard[] = on.includes('here') ? ['notCheckedOut'] : [];
  if (on.includes('notCheckedOut') && not.length === 0) not.push('dirtyCheckout');
  const chosen = on.filter((hazard) => !not.includes(hazard));
  const has = (hazard: Hazard): boolean => chosen.includes(hazard);
  const tasks = Array.from({ length: count }, (_, index): TaskPlan => {
    const does: TaskPlan['does'] = [];
    if (has('conflicts') && dice.roll(10) < 3) does.push('shared');
    if (has('semantic') && dice.roll(10) < 2) does.push('number');
    if (has('lockFile') && dice.roll(10) < 3) does.push('lock');
    if (has('submodules') && dice.roll(10) < 2) does.push(dice.one(4) ? 'unpushed' : 'submodule');
    return {
      id: nameOf(index),
      dependsOn: has('dependencies') && index > 4 && dice.one(3) ? [nameOf(dice.roll(index))] : [],
      ms: 20 + dice.roll(181),
      does,
      leaves: dice.pick(['nothing', 'all', 'half'] as const) ?? 'nothing',
      bad: has('badAgents') && dice.one(4) ? 1 + dice.roll(4) : 0,
    };
  });
  const person: PersonPlan[] = [];
  const plan = (does: PersonPlan['does'], times: number, from = 0): void => {
    for (let time = 0; time < times; time += 1) person.push({ does, after: from + dice.roll(count - 8) });
  };
  if (has('personCommits')) plan('commit', 5);
  if (has('redBase')) plan('break', 1 + dice.roll(2));
  if (has('undeclaredWrites')) plan('makeNoise', 1);
  if (has('dirtyCheckout')) plan('dirty', 2);
  if (has('rewound')) plan('rewind', 1, 3);
  return {
    seed,
    hazards: chosen,
    tasks,
    person,
    gateMs: 20,
    gated: dice.one(3),
    retry: 2 + dice.roll(2),
    kills: has('kills') ? Array.from({ length: 2 + dice.roll(3) }, () => 500 + dice.roll(6_000)) : [],
    stays: dice.one(2),
    visited: has('dirtyCheckout') ? tasks.flatMap(({ id }) => (dice.one(6) ? [id] : [])) : [],
  };
}

function calmPlan(seed: number, dice: Dice): Plan {
  const tasks = Array.from(
    { length: count },
    (_, index): TaskPlan => ({
      id: nameOf(index),
      dependsOn: [],
      ms: 2_000 + dice.roll(2_001),
      does: [],
      leaves: dice.one(2) ? 'nothing' : 'all',
      bad: 0,
    }),
  );
  const rest = { hazards: [], person: [], kills: [], gated: false, retry: 2, stays: false, visited: [] };
  return { seed, tasks, gateMs: 200, ...rest };
}

const nameOf = (index: number): string => `t${String(index).padStart(2, '0')}`;
