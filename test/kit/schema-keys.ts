/** The objects of a workflow file by the name that the documentation gives them, and where each stands. */
const places: Record<string, string> = {
  '': 'Workflow',
  briefing: 'Workflow',
  critical_artifacts: 'Workflow',
  'inputs.*': 'Input',
  'agents.*': 'Agent',
  'steps[]': 'Step',
  'loops.*[]': 'Sub-step',
  'steps[].gate[]': 'Gate',
  'steps[].until[]': 'Gate',
  'steps[].merge_gate[]': 'Gate',
  'loops.*[].gate[]': 'Gate',
  'steps[].on_fail': 'Retry',
  'loops.*[].on_fail': 'Retry',
  'finally[]': 'Cleanup',
  'steps[].tasks': 'Tasks',
  worktree: 'Worktree',
  'steps[].review': 'Review',
  'steps[].budget': 'Budget',
  budget: 'Budget',
  'transitions[]': 'Transition',
  'critical_artifacts.always_load[]': 'Critical artifact',
  'critical_artifacts.conditional_load[]': 'Critical artifact',
};
/** Maps whose keys are names that the author chooses. */
const named = new Set(['inputs', 'agents', 'loops', 'variables']);

export interface SchemaKey {
  object: string;
  /** As the documentation writes it: `budget`, or `briefing.budget` for a part that has no table of its own. */
  key: string;
  required: boolean;
  /** The words it takes, if it takes only some. */
  words: string[];
}

/** Every key of the workflow's JSON Schema; throws at an object that has no name here. */
export function schemaKeys(schema: object): SchemaKey[] {
  const keys = new Map<string, SchemaKey>();
  visit(schema, '');
  return [...keys.values()];

  function visit(node: unknown, place: string): void {
    if (!isRecord(node)) return;
    const { properties, additionalProperties, items, required } = node;
    if (isRecord(properties)) {
      for (const [name, value] of Object.entries(properties)) {
        const { object, key } = keyAt(place, name);
        const words = isRecord(value) && Array.isArray(value.enum) ? value.enum.map(String) : [];
        const needed = Array.isArray(required) && required.includes(name);
        keys.set(`${object} ${key}`, { object, key, required: needed, words });
        visit(value, place === '' ? name : `${place}.${name}`);
      }
    }
    visit(additionalProperties, `${place}.*`);
    visit(items, `${place}[]`);
    for (const kind of ['anyOf', 'oneOf', 'allOf']) {
      const branches = node[kind];
      if (Array.isArray(branches)) for (const branch of branches) visit(branch, place);
    }
  }
}

/** The keys that a parsed workflow file uses, as `Object key`. */
export function usedKeys(workflow: unknown): string[] {
  const used: string[] = [];
  visit(workflow, '');
  return used;

  function visit(value: unknown, place: string): void {
    if (Array.isArray(value)) {
      for (const each of value) visit(each, `${place}[]`);
      return;
    }
    if (!isRecord(value)) return;
    for (const [name, part] of Object.entries(value)) {
      if (named.has(place)) {
        visit(part, `${place}.*`);
        continue;
      }
      const { object, key } = keyAt(place, name);
      used.push(`${object} ${key}`);
      visit(part, place === '' ? name : `${place}.${name}`);
    }
  }
}

function keyAt(place: string, name: string): { object: string; key: string } {
  const object = places[place];
  if (object === undefined) throw new Error(`no table describes what stands at ${place}`);
  return { object, key: object === 'Workflow' && place !== '' ? `${place}.${name}` : name };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
