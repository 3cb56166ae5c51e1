/** Hosts read each other's settings, so a hook of one fires in another: it must notice, and do nothing. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hosts } from './index.ts';

/** As the real programs sent them: `lab/record-payloads/run.ts`. */
const folder = join(import.meta.dirname, '..', '..', 'test', 'fixtures', 'payloads');

interface Recorded {
  event: string;
  payload: Record<string, unknown>;
}

const recorded: [string, Recorded[]][] = readdirSync(folder).map((file) => [
  basename(file, '.json'),
  JSON.parse(readFileSync(join(folder, file), 'utf8')),
]);

/** Claude Code reports its own summarizer as a subagent without a type. */
const isOfSummarizer = ({ payload }: Recorded): boolean => payload.agent_type === '';

/** Started in a shell of each host, one within the other. */
const everyVariable = Object.fromEntries(
  hosts.flatMap(({ variables: { agent, internal, session, project } }) =>
    [...agent, ...internal, session ?? [], project ?? []].flat().map((name) => [name, '/project']),
  ),
);

const environments = [
  ['its own', {}],
  ['that of every host', { ...everyVariable, GEMINI_PROJECT_DIR: '/project' }],
] as const;

describe.each(recorded)('[pain 4] [pain 7] what %s sends', (sender, all) => {
  test.each(environments)('concerns only its own adapter, in an environment that is %s', (_, env) => {
    const reacting = all.map(({ event, payload }) => [
      event,
      hosts.filter((host) => host.parse(event, payload, env)).map(({ name }) => name),
    ]);
    expect(reacting).toEqual(all.map((each) => [each.event, isOfSummarizer(each) ? [] : [sender]]));
  });

  test('names its session and its folder', () => {
    const host = hosts.find(({ name }) => name === sender) ?? expect.unreachable();
    const inputs = all
      .filter((each) => !isOfSummarizer(each))
      .map(({ event, payload }) => host.parse(event, payload, {}));
    expect(new Set(inputs.map((input) => input?.session))).toHaveProperty('size', 1);
    expect(new Set(inputs.map((input) => input?.cwd))).toEqual(new Set(['/project']));
  });
});

test('[pain 4] [pain 7] every host is here', () => {
  expect(recorded.map(([name]) => name).sort()).toEqual(hosts.map(({ name }) => name).sort());
});
