import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withoutSecrets } from '../context/index.ts';
import { createTestFolder } from '../testing/index.ts';

const env = { PATH: process.env.PATH, STEPFAST_SESSION: '550e8400-e29b-41d4-a716-446655440000' };
const token = `gh${'p_'}${'aB3dE5'.repeat(6)}`;
const line = 'MIIEpAIBAAKCAQEA7v0k2Xq3'.repeat(2);
const password = `Sup3r${'S3cret'}Named1`;
const files = {
  '.stepfast/workflows/w.yaml':
    'name: w\ndescription: x\nsteps:\n  - { id: a, type: action, instructions: Read docs/auth-token-v2.md., gate: [{ run: sh gate.sh }] }\n  - { id: b, type: action, instructions: y }\n',
  'gate.sh': `echo "${line}"; echo "${line}"; echo "-----END RSA PRIVATE ${'KEY'}-----"; echo "used ${token}"; exit 1\n`,
};

test('no answer shows a secret that a gate, a summary, a question or a note had; export has them all', async () => {
  using project = createTestFolder(files);
  // Also for the process that runs the gates.
  const own = { ...env, XDG_STATE_HOME: join(project.root, 'state') };
  const run = async (...argv: string[]): Promise<string> => {
    const { stdout, stderr } = await project.run(argv, { env: own });
    return stdout + stderr;
  };
  await project.run(['trust', 'w'], { env: own, terminal: true, input: ['y'] });
  const shown = [
    await run('start', 'w', '--summary', `With ${token}`),
    await run('advance', 'made it'),
    await run('advance', 'made it again', '--json'),
    await run('note', 'variable', '--key', 'db_password', password),
    await run('ask', `Is ${token} right?`),
    await run('status'),
    await run('status', '--json'),
    await run('runs'),
    await run('runs', '--json'),
    await run('sessions'),
    await run('sessions', '--json'),
    await run('log'),
    await run('log', '--json'),
  ];
  expect(shown[1]).toContain('[secret removed: github-token]');
  for (const secret of [token, line, password])
    expect(shown.filter((text) => text.includes(secret))).toEqual([]);
  const { run: id } = JSON.parse(await run('status', '--json'));
  const exported = await run('export', id);
  for (const secret of [token, line, password]) expect(exported).toContain(secret);
});

test('what is no secret is shown as it is: handles, ids, digests, paths, addresses', async () => {
  using project = createTestFolder({
    '.stepfast/workflows/w.yaml':
      'name: w\ndescription: x\nsteps:\n  - { id: tokens, type: action, instructions: "See https://example.com:8443/a/@scope/b and src/auth/token-store-v2.ts.", gate: [{ exists: password.txt }] }\n  - { id: secret-keys, type: action, instructions: y }\n',
    'password.txt': '',
  });
  const run = async (...argv: string[]): Promise<string> => (await project.run(argv, { env })).stdout;
  await run('start', 'w', '--summary', 'The token of the session');
  await run('advance', 'made 12 tokens');
  await run('ask', 'Which secret: the old one?');
  for (const command of ['status', 'runs', 'sessions', 'log']) {
    expect(await run(command)).not.toContain('[secret removed');
    const told: unknown = JSON.parse(await run(command, '--json'));
    expect(withoutSecrets(told)).toEqual(told);
    expect(JSON.stringify(told)).not.toContain('[secret removed');
  }
});
