/** A pinned agent program in a project and a home of its own, with a scripted model and no other network. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type HostProgram, hostBinary } from '../../scripts/install-hosts.ts';
import { canIsolate, isolate, systemPath } from '../../src/testing/claude/network.ts';
import {
  createScriptedModel,
  createTestProject,
  type ScriptedModel,
  type TestProject,
} from '../../src/testing/index.ts';

/** In its network namespace the host has the port for itself. */
const bridgePort = '4010';

export interface Lab {
  project: TestProject;
  model: ScriptedModel;
  /** The model's address, as the host sees it. */
  url: string;
  /** Of the host's user. */
  home: string;
  /** First on the PATH: the host's program, behind its wall. */
  bin: string;
  /** Of the person, with nothing of this machine's. */
  env: Record<string, string>;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function createLab(program: HostProgram, files: Record<string, string> = {}): Promise<Lab> {
  const project = createTestProject({ 'a.txt': 'a', ...files });
  const model = await createScriptedModel();
  const home = join(project.root, '..', `${program}-home`);
  const bin = join(home, 'bin');
  for (const folder of [bin, join(home, 'tmp')]) mkdirSync(folder, { recursive: true });
  const command = await isolate(model, await hostBinary(program), []);
  const words = [command.program, ...command.args].map(quoted).join(' ');
  // Programs in JavaScript start with the Node that runs the tests.
  const path = `export PATH=${quoted(dirname(process.execPath))}:"$PATH"`;
  const file = join(bin, program);
  writeFileSync(file, `#!/bin/sh\n${path}\nexport STEPFAST_BRIDGE_PORT=${bridgePort}\nexec ${words} "$@"\n`);
  chmodSync(file, 0o755);
  return {
    project,
    model,
    url: (await canIsolate()) ? `http://127.0.0.1:${bridgePort}` : model.url,
    home,
    bin,
    env: {
      PATH: [bin, dirname(process.execPath), systemPath].join(':'),
      HOME: home,
      TMPDIR: join(home, 'tmp'),
      LANG: 'C.UTF-8',
      TERM: 'dumb',
      // One user: what the project's user trusts, the host's hooks trust.
      XDG_STATE_HOME: join(project.env.HOME ?? '', '.local', 'state'),
    },
    async [Symbol.asyncDispose]() {
      await model[Symbol.asyncDispose]();
      project[Symbol.dispose]();
    },
  };
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
