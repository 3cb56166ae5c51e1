/** Attacks at a size that is too large for CI. */
import { once } from 'node:events';
import { request } from 'node:http';
import { type Arena, definitionOf } from '../../test/kit/server/attack.ts';
import type { Attack } from './attack.ts';

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const counted = (values: readonly (string | number)[]): string =>
  Object.entries(Object.groupBy(values, (value) => String(value)))
    .map(([value, all]) => `${all?.length} × ${value}`)
    .join(', ');
const plain = definitionOf([{ id: 'plan', type: 'action', instructions: 'Plan.' }]);

export function loadAttacks({ url, tokens, begin, call }: Arena): Attack[] {
  const { attacker, reader, person } = tokens;
  return [
    {
      what: 'a definition of 20,000 steps with references',
      async run() {
        const steps = range(20_000).map((index) => ({
          ...{ id: `s${index}`, type: 'action', instructions: '{input.x} {steps.s1.output}' },
          when: `steps.s${(index * 7) % 20_000}.output == 'x'`,
          next: `s${(index + 1) % 20_000}`,
        }));
        const { status } = await begin(definitionOf(steps));
        return { got: `${status}`, succeeded: status < 400 };
      },
    },
    {
      what: 'a run filled with sessions until it is full, then the person who decides',
      async run() {
        const path = `/v1/runs/${(await begin(plain)).body.run}/commands`;
        const environment = Object.fromEntries(range(30).map((key) => [`K${key}`, 'v'.repeat(500)]));
        const event = { type: 'started', environment, host: 'h'.repeat(1_000), worktree: 'w'.repeat(5_000) };
        let refused: string | undefined;
        for (let sent = 0; sent < 400 && refused === undefined; sent += 1) {
          const command = { type: 'session', session: `x${sent}${'-'.repeat(900)}`, event };
          const { body } = await call('POST', path, { token: attacker, body: { command } });
          refused = body.code ?? body.reply?.code;
        }
        const command = { type: 'cancel', actor: { kind: 'person' } };
        const { status, text } = await call('POST', path, { token: person, body: { command } });
        const isStuck = status !== 200 || text.includes('"code":');
        return { got: `${refused}, then ${status}`, succeeded: refused === undefined || isStuck };
      },
    },
    {
      what: '2,000 requests at once with a token that may only read',
      async run() {
        const { run } = (await begin(plain)).body;
        const answers = await Promise.all(
          range(2_000).map(() => call('GET', `/v1/runs/${run}`, { token: reader })),
        );
        const got = answers.map(({ status }) => status);
        return { got: counted(got), succeeded: got.includes(500) };
      },
    },
    {
      what: '400 sign-ins at once, each for another name',
      async run() {
        const answers = await Promise.all(
          range(400).map((index) => {
            const body = { project: 'hostile', name: `nobody-${index}`, passphrase: 'x' };
            return call('POST', '/sign-in', { body });
          }),
        );
        const got = answers.map(({ status }) => status);
        return { got: counted(got), succeeded: got.some((status) => status < 400) };
      },
    },
    {
      what: '20 bodies of 100 MB',
      async run() {
        const answers = await Promise.all(range(20).map(() => sendForever(`${url}/v1/runs`, attacker)));
        return { got: counted(answers), succeeded: answers.includes(200) };
      },
    },
  ];
}

/** The status of the answer to a body without an announced length, of which the server takes what it likes. */
async function sendForever(url: string, token: string): Promise<number> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const sent = request(url, { method: 'POST', headers });
  let status = 0;
  sent.on('error', () => {});
  const isOver = new Promise<void>((resolve) => {
    sent.once('response', (answer) => {
      status = answer.statusCode ?? 0;
      resolve();
    });
    sent.once('close', resolve);
  });
  const piece = 'x'.repeat(2 ** 20);
  for (let left = 100; left > 0 && status === 0 && !sent.destroyed; left -= 1)
    if (!sent.write(piece)) await Promise.race([once(sent, 'drain').catch(() => {}), isOver]);
  if (!sent.destroyed) sent.end();
  await isOver;
  sent.destroy();
  return status;
}
