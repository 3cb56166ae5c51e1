import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { commandName } from '../../command-name.ts';
import { type Check, type Environment, type FoundHost, openRuntime } from '../../runtime/index.ts';
import { startModel } from '../live-model.ts';
import { ask } from '../program.ts';
import { withEntries } from '../settings/index.ts';
import { testedVersion } from './check.ts';
import { dialect, ourEntries } from './settings-file.ts';

/** Part of the temporary run's briefing: a request that contains it got the briefing. */
const canary = 'STEPFAST-CANARY-7f3d';

const workflow = `name: canary
description: Proves that the plugin works
required_reading: ["@note.md"]
steps:
  - { id: one, type: action, instructions: "${canary} stands in every briefing." }
`;

/** A session of the real program in a temporary project. */
export async function tryLive(
  found: FoundHost | undefined,
  plugin: string,
  env: Environment,
): Promise<Check[]> {
  if (!found) return [];
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-doctor-')));
  const [home, root] = [join(folder, 'home'), join(folder, 'project')];
  const around = {
    PATH: [dirname(process.execPath), env.PATH ?? ''].join(':'),
    HOME: home,
    TMPDIR: join(home, 'tmp'),
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_DATA_HOME: join(home, 'data'),
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CACHE_HOME: join(home, 'cache'),
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  };
  for (const each of [join(home, 'tmp'), join(root, '.stepfast', 'workflows')])
    mkdirSync(each, { recursive: true });
  const note = join(root, 'note.md');
  const model = await startModel(
    [
      { name: 'read', input: { filePath: note } },
      { name: 'stepfast_workflow_status', input: {} },
    ],
    (_, body) => /"tools":\[\{/.test(body),
  );
  try {
    writeFileSync(join(root, '.stepfast', 'workflows', 'canary.yaml'), workflow);
    writeFileSync(note, 'A note.\n');
    writeFileSync(
      join(root, 'opencode.json'),
      String(withEntries(settings(model.url), ourEntries(plugin), dialect)),
    );
    seedPackages(join(home, 'config', 'opencode'), found.version ?? testedVersion);
    const runtime = openRuntime({
      cwd: root,
      home,
      env: around,
      runner: { program: process.execPath, args: [] },
    });
    const { run = '' } = await runtime.start({ workflow: 'canary' }, { session: 'doctor' });
    const ran = await ask(found.program, ['run', 'continue'], { env: around, root });
    const state = (await runtime.engine.view(run))?.state;
    const requests = model.requests();
    const judged = (what: string, isRight: boolean, says: string, otherwise: string): Check =>
      isRight
        ? { what, state: 'ok', says: `proven: ${says}` }
        : { what, state: 'wrong', says: otherwise, next: `${commandName()} init` };
    return [
      judged(
        'session',
        ran.code === 0,
        'a session ran',
        `it ended with ${ran.code}: ${ran.stderr.slice(-300)}`,
      ),
      judged(
        'briefing',
        requests.some((body) => body.includes(canary)),
        'the briefing was in the request to the model',
        'silent: the briefing did not reach the model',
      ),
      judged(
        'files',
        Object.keys(state?.reading ?? {}).length > 0,
        'a file that was read is recorded',
        'silent: a file that was read is not recorded',
      ),
      judged(
        'tools',
        Object.values(state?.sessions ?? {}).some(({ host }) => host === 'opencode'),
        "Stepfast's tools know the session",
        "silent: Stepfast's tools were not called, or not by a session",
      ),
    ];
  } finally {
    model.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const settings = (url: string): string =>
  JSON.stringify({
    model: 'doctor/m1',
    small_model: 'doctor/m1',
    share: 'disabled',
    provider: {
      doctor: {
        npm: '@ai-sdk/anthropic',
        options: { baseURL: `${url}/v1`, apiKey: 'dummy' },
        models: { m1: { name: 'm1', tool_call: true, limit: { context: 200_000, output: 8_000 } } },
      },
    },
  });

/** Otherwise OpenCode installs this package first, and waits more than a minute without a network. */
function seedPackages(folder: string, version: string): void {
  const dependencies = { '@opencode-ai/plugin': version };
  const lock = { lockfileVersion: 3, packages: { '': { dependencies } } };
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies }));
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
}
