import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { StepfastError } from '../errors.ts';
import { type Definition, leastBriefing } from '../machine/index.ts';
import { nearest } from '../suggest.ts';

/** Project defaults for every workflow, from `.stepfast/config.yaml`; a workflow's own keys win. */
export type Config = Pick<
  Definition,
  'boundaries' | 'stop' | 'keep' | 'todo_path' | 'state_mirror' | 'briefing'
> & {
  server?: string;
};

const checks: Record<keyof Config, { is: (value: unknown) => boolean; say: string }> = {
  boundaries: { is: (value) => oneOf(value, ['prefer', 'require', 'off']), say: 'prefer, require or off' },
  stop: { is: (value) => oneOf(value, ['allow', 'hold', 'check']), say: 'allow, hold or check' },
  keep: { is: (value) => typeof value === 'boolean', say: 'true or false' },
  todo_path: { is: isInnerPath, say: 'a path inside the project' },
  state_mirror: { is: isInnerPath, say: 'a path inside the project' },
  briefing: { is: isBriefing, say: '{ budget: 2500 } or more' },
  server: { is: (value) => typeof value === 'string' && URL.canParse(value), say: 'an address' },
};

/** Throws `bad_config`, with the allowed values. */
export function readConfig(directory: string): Config {
  const file = join(directory, 'config.yaml');
  if (!existsSync(file)) return {};
  const bad = (what: string): StepfastError =>
    new StepfastError('bad_config', `.stepfast/config.yaml: ${what}`);
  const read = parseOr(readFileSync(file, 'utf8'), bad);
  if (read === null || read === undefined) return {};
  if (typeof read !== 'object' || Array.isArray(read)) throw bad('it must be a list of keys with values.');
  for (const [key, value] of Object.entries(read)) {
    if (key === 'notify')
      throw bad(
        "'notify' is not for a repository. Which events are told is in a workflow, and how is in your own configuration: stepfast/config.yaml in ~/.config, $XDG_CONFIG_HOME or %APPDATA%.",
      );
    if (!isKey(key)) {
      const meant = nearest(key, Object.keys(checks));
      const hint = meant === undefined ? `It takes ${Object.keys(checks).join(', ')}.` : `Write '${meant}'.`;
      throw bad(`there is no key '${key.slice(0, 80)}'. ${hint}`);
    }
    if (!checks[key].is(value)) throw bad(`'${key}' must be ${checks[key].say}.`);
  }
  // Every key and value was checked above.
  return read as Config;
}

/** The definition with the project's defaults, as a run pins it. */
export function withConfig(definition: Definition, { server: _, ...defaults }: Config): Definition {
  return { ...defaults, ...definition };
}

/** The definition without project settings, none of which runs a command. */
export function withoutConfig({
  boundaries: _boundaries,
  stop: _stop,
  keep: _keep,
  todo_path: _todo,
  state_mirror: _mirror,
  briefing: _briefing,
  ...rest
}: Definition): Definition {
  return rest;
}

function parseOr(text: string, bad: (what: string) => StepfastError): unknown {
  try {
    return parse(text, { maxAliasCount: 0 });
  } catch (error) {
    throw bad(`it is not valid YAML: ${error instanceof Error ? error.message.split('\n', 1)[0] : ''}`);
  }
}

const isKey = (key: string): key is keyof Config => Object.hasOwn(checks, key);

const oneOf = (value: unknown, allowed: readonly string[]): boolean =>
  typeof value === 'string' && allowed.includes(value);

function isInnerPath(value: unknown): boolean {
  if (typeof value !== 'string' || /^(?:\.?[/\\])*\.?$/.test(value)) return false;
  return !/^([/\\]|[a-z]:)|(^|[/\\])\.\.([/\\]|$)/i.test(value);
}

const isBudget = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= leastBriefing.tokens;

function isBriefing(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const [key, ...more] = Object.keys(value);
  return key === 'budget' && more.length === 0 && isBudget((value as { budget: unknown }).budget);
}
