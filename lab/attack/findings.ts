/** The attacks that once succeeded, each titled with its finding. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack } from './attack.ts';
import { type Ground, plain, request } from './ground.ts';
import { connectRaw, countAnswers } from './raw.ts';

const action = (id: string, instructions = id): object => ({ id, type: 'action', instructions });

export const findingAttacks: readonly Attack[] = [
  {
    id: 'S1',
    what: 'a definition of 20,000 steps',
    async run({ call }) {
      const steps = Array.from({ length: 20_000 }, (_, index) => action(`s${index}`, 'x'));
      const { status, code } = await call('agent', 'POST', '/v1/runs', begin({ ...plain, steps }));
      return { got: `${status} ${code ?? ''}`, succeeded: status < 400 };
    },
  },
  {
    id: 'S1',
    what: 'a definition of 20,000 steps with references',
    async run({ call }) {
      const steps = Array.from({ length: 20_000 }, (_, index) => ({
        ...action(`s${index}`, '{input.x} {steps.s1.output}'),
        when: `steps.s${(index * 7) % 20_000}.output == 'x'`,
        next: `s${(index + 1) % 20_000}`,
      }));
      const { status, code } = await call('agent', 'POST', '/v1/runs', begin({ ...plain, steps }));
      return { got: `${status} ${code ?? ''}`, succeeded: status < 400 };
    },
  },
  {
    id: 'S2',
    what: 'placeholders times a large input, read 20 times at once with a token that may only read',
    async run({ call }) {
      const bomb = {
        ...plain,
        inputs: { x: { type: 'string' } },
        steps: [action('a', '{input.x}'.repeat(500)), action('b')],
      };
      const started = await call(
        'agent',
        'POST',
        '/v1/runs',
        begin(bomb, { inputs: { x: 'y'.repeat(290_000) } }),
      );
      const { run } = JSON.parse(started.text) as { run?: string };
      if (run === undefined) return { got: `${started.status} ${started.code}`, succeeded: false };
      const read = () => call('reader', 'POST', `/v1/runs/${run}/commands`, { command: { type: 'status' } });
      const answers = await Promise.all(Array.from({ length: 20 }, read));
      const largest = Math.max(started.text.length, ...answers.map(({ text }) => text.length));
      return { got: `answers of ${Math.round(largest / 1000)} KB`, succeeded: largest > 4_000_000 };
    },
  },
  {
    id: 'S2',
    what: '60 event streams that nobody reads, with 24 MB to send',
    async run(ground) {
      const names = Array.from({ length: 13 }, (_, index) => `i${index}`);
      const fat = {
        ...plain,
        inputs: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
      };
      const inputs = Object.fromEntries(names.map((name) => [name, 'z'.repeat(290_000)]));
      let started = 0;
      for (let index = 0; index < 6; index += 1)
        started +=
          (await ground.call('agent', 'POST', '/v1/runs', begin(fat, { inputs }))).status === 200 ? 1 : 0;
      const sockets = Array.from({ length: 60 }, () =>
        connectRaw(ground, `GET /v1/events?after=1 HTTP/1.1\r\n${head(ground, 'reader')}\r\n`, {
          reads: false,
        }),
      );
      await sleep(8_000);
      for (const socket of sockets) socket.destroy();
      return { got: `${started} large runs; see the memory`, succeeded: false };
    },
  },
  {
    id: 'S2',
    what: '1,500 long polls of one token',
    async run(ground) {
      const run = await ground.begin('agent', plain);
      const sockets = Array.from({ length: 1_500 }, () =>
        connectRaw(
          ground,
          `GET /v1/runs/${run}/watch?after=999&ms=25000 HTTP/1.1\r\n${head(ground, 'reader')}\r\n`,
        ),
      );
      const refused = await countAnswers(sockets, / 429 /, 20_000);
      for (const socket of sockets) socket.destroy();
      return { got: `${refused} refused with 429`, succeeded: refused < 1_000 };
    },
  },
  {
    id: 'S2',
    what: 'a run filled with sessions until it is full, then the person who decides',
    async run({ call, begin: start }) {
      const run = await start('agent', plain);
      const event = {
        type: 'started',
        environment: Object.fromEntries(Array.from({ length: 30 }, (_, key) => [`K${key}`, 'v'.repeat(500)])),
        host: 'h'.repeat(1_000),
        worktree: 'w'.repeat(5_000),
      };
      let last: string | undefined;
      let sent = 0;
      for (; sent < 400 && last === undefined; sent += 1) {
        const answer = await call('agent', 'POST', `/v1/runs/${run}/commands`, {
          command: { type: 'session', session: `x${sent}${'-'.repeat(900)}`, event },
        });
        last = answer.code;
      }
      const cancelled = await call('person', 'POST', `/v1/runs/${run}/commands`, {
        command: { type: 'cancel', actor: { kind: 'person' } },
      });
      const isStuck = cancelled.status !== 200 || cancelled.code !== undefined;
      return {
        got: `${last} after ${sent} sessions; the person's cancel ${isStuck ? `too: ${cancelled.text.slice(0, 100)}` : 'is carried out'}`,
        succeeded: last === undefined || isStuck,
      };
    },
  },
  {
    id: 'S6',
    what: '300 bad tokens from one address, then a good one signs in from it',
    async run({ url, tokens, cli }) {
      const bad = (index: number): string => `sf_${String(index).padStart(16, '0')}_${'B'.repeat(43)}`;
      const answers = await Promise.all(
        Array.from({ length: 300 }, (_, index) => request(`${url}/v1/whoami`, 'GET', bad(index))),
      );
      const fresh = await cli.output('token', 'create', 'fresh', '--project', 'attacked');
      const good = await request(`${url}/v1/whoami`, 'GET', fresh);
      const known = await request(`${url}/v1/whoami`, 'GET', tokens.agent);
      const wrong = answers.some(({ status }) => status < 400);
      return {
        got: `bad ${[...new Set(answers.map(({ status }) => status))].join(', ')}; good ${good.status}`,
        succeeded: wrong || good.status !== 200 || known.status !== 200,
      };
    },
  },
  {
    id: 'S7',
    what: '64 agents who claim the tasks of one run at once',
    async run({ call, begin: start }) {
      const tasks = Array.from({ length: 64 }, (_, index) => ({ id: `t${index}`, title: `Task ${index}` }));
      const fan = {
        ...plain,
        steps: [{ id: 'impl', type: 'loop', parallel: 64 }],
        loops: { impl: [{ id: 'do', instructions: 'Do {task.title}' }] },
      };
      const run = await start('agent', fan);
      const path = `/v1/runs/${run}/commands`;
      await call('agent', 'POST', path, { command: { type: 'setTasks', loop: 'impl', tasks } });
      const claimed = await Promise.all(
        tasks.map(async (_, index) => {
          const holder = `agent-${index}`;
          const command = { type: 'claim', holder, session: holder };
          const { text } = await call('agent', 'POST', path, { command });
          return (JSON.parse(text) as { reply?: { at?: string } }).reply?.at;
        }),
      );
      const places = new Set(claimed.filter((at) => at !== undefined));
      return { got: `${places.size} tasks claimed, each once`, succeeded: places.size !== tasks.length };
    },
  },
  {
    id: 'S9',
    what: 'a transaction that stays open in another database of the cluster',
    async run(ground) {
      const { cluster, begin: start, call } = ground;
      await cluster.createDatabase('elsewhere');
      const { default: pg } = await import('pg');
      const held = new pg.Client({ connectionString: cluster.url('elsewhere') });
      await held.connect();
      await held.query('begin');
      await held.query('select pg_current_xact_id()');
      const run = await start('agent', plain);
      const [stream] = [
        connectRaw(ground, `GET /v1/events?run=${run} HTTP/1.1\r\n${head(ground, 'reader')}\r\n`),
      ];
      await sleep(500);
      await call('agent', 'POST', `/v1/runs/${run}/commands`, {
        command: { type: 'note', kind: 'decision', text: 'TOLD-WHILE-HELD' },
      });
      const told = await countAnswers([stream], /TOLD-WHILE-HELD|note\.added/, 10_000);
      stream?.destroy();
      await held.query('rollback');
      await held.end();
      return { got: told === 1 ? 'the stream goes on' : 'the stream is held', succeeded: told !== 1 };
    },
  },
  {
    id: 'S10',
    what: "a key of another token's command, with another command",
    async run({ call, begin: start }) {
      const run = await start('agent', plain);
      const path = `/v1/runs/${run}/commands`;
      const note = { type: 'note', kind: 'decision', text: 'SAID-BY-THE-AGENT' };
      await call('agent', 'POST', path, { command: note, key: 'shared' });
      const other = await call('person', 'POST', path, {
        command: { type: 'cancel', actor: { kind: 'person' } },
        key: 'shared',
      });
      const after = await call('person', 'GET', `/v1/runs/${run}`);
      const isCancelled = /"status":"cancelled"/.test(after.text);
      // Either it is carried out or refused; never answered with what another got.
      const isReplayed = other.code === undefined && !isCancelled;
      return { got: `${other.status} ${other.code ?? 'carried out'}`, succeeded: isReplayed };
    },
  },
  {
    id: 'S11',
    what: '/metrics at the public port',
    async run({ call }) {
      const { status, text } = await call('nobody', 'GET', '/metrics');
      return { got: `${status}`, succeeded: status === 200 && text.includes('process_') };
    },
  },
  {
    id: 'S12',
    what: 'a page of 34 runs with 300 KB each',
    async run({ call }) {
      const fat = { ...plain, inputs: { x: { type: 'string' } } };
      for (let index = 0; index < 34; index += 1)
        await call('agent', 'POST', '/v1/runs', begin(fat, { inputs: { x: 'z'.repeat(290_000) } }));
      const { text, status } = await call('reader', 'GET', '/v1/runs?limit=34');
      return { got: `${status}, ${Math.round(text.length / 1000)} KB`, succeeded: text.length > 500_000 };
    },
  },
  {
    id: 'SSRF',
    what: 'webhooks to names that lead to this machine, at once and after a first public answer',
    async run({ cli, begin: start, call, probe }) {
      let hits = 0;
      const target = createServer((socket) => {
        hits += 1;
        socket.destroy();
      });
      target.listen(0, '127.0.0.1');
      await once(target, 'listening');
      const { port } = target.address() as { port: number };
      const added: string[] = [];
      for (const name of ['at-once', 'later']) {
        const url = `https://${name}.rebind.example:${port}/`;
        const { code } = await cli.run(['webhook', 'add', url, '--project', 'attacked']);
        added.push(code === 0 ? 'taken' : 'refused');
      }
      const direct = await cli.run(['webhook', 'add', `https://127.0.0.1:${port}/`, '--project', 'attacked']);
      const run = await start('agent', plain);
      await call('agent', 'POST', `/v1/runs/${run}/commands`, { command: { type: 'advance', output: 'x' } });
      await sleep(6_000);
      target.close();
      return {
        got: `names ${added.join(', ')}, address ${direct.code === 0 ? 'taken' : 'refused'}, ${probe().resolved} resolved, ${hits} connections`,
        succeeded: hits > 0 || direct.code === 0,
      };
    },
  },
];

function begin(definition: object, more: object = {}): object {
  return { definition, command: { type: 'start', summary: 'x', ...more } };
}

export const head = ({ url, tokens }: Ground, as: 'reader' | 'agent'): string =>
  `Host: ${new URL(url).host}\r\nAuthorization: Bearer ${tokens[as]}\r\n`;
