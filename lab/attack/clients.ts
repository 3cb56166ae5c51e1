/** Clients that are slow, send too much or ask for too much. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack } from './attack.ts';
import { head } from './findings.ts';
import { plain } from './ground.ts';
import { connectRaw, countAnswers, heard } from './raw.ts';

export const clientAttacks: readonly Attack[] = [
  {
    id: 'slow',
    what: '200 clients that send a header a second',
    async run(ground) {
      const sockets = Array.from({ length: 200 }, () => connectRaw(ground, 'GET /v1/whoami HTTP/1.1\r\n'));
      const closed = Promise.all(sockets.map((socket) => once(socket, 'close')));
      const drip = setInterval(() => {
        for (const socket of sockets) if (socket.writable) socket.write('X-More: 1\r\n');
      }, 1_000);
      const isClosed = await Promise.race([closed.then(() => true), sleep(45_000, false)]);
      clearInterval(drip);
      for (const socket of sockets) socket.destroy();
      return { got: isClosed ? 'all disconnected' : 'still connected', succeeded: !isClosed };
    },
  },
  {
    id: 'slow',
    what: '100 bodies that never end',
    async run(ground) {
      const sockets = Array.from({ length: 100 }, () =>
        connectRaw(
          ground,
          `POST /v1/runs HTTP/1.1\r\n${head(ground, 'agent')}Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{`,
        ),
      );
      const closed = Promise.all(sockets.map((socket) => once(socket, 'close')));
      const isClosed = await Promise.race([closed.then(() => true), sleep(60_000, false)]);
      for (const socket of sockets) socket.destroy();
      return { got: isClosed ? 'all disconnected' : 'still connected', succeeded: !isClosed };
    },
  },
  {
    id: 'unread',
    what: '40 readers of a large run that never read the answer',
    async run(ground) {
      const fat = {
        ...plain,
        inputs: Object.fromEntries(
          Array.from({ length: 13 }, (_, index) => [`i${index}`, { type: 'string' }]),
        ),
      };
      const inputs = Object.fromEntries(
        Array.from({ length: 13 }, (_, index) => [`i${index}`, 'z'.repeat(290_000)]),
      );
      const started = await ground.call('agent', 'POST', '/v1/runs', {
        definition: fat,
        command: { type: 'start', inputs },
      });
      const { run } = JSON.parse(started.text) as { run?: string };
      if (run === undefined) return { got: `${started.status} ${started.code}`, succeeded: false };
      const ask = `GET /v1/runs/${run} HTTP/1.1\r\n${head(ground, 'reader')}\r\n`;
      const sockets = Array.from({ length: 40 }, () => connectRaw(ground, ask.repeat(4), { reads: false }));
      await sleep(6_000);
      for (const socket of sockets) socket.destroy();
      return { got: 'see the memory', succeeded: false };
    },
  },
  {
    id: 'oversized',
    what: '20 bodies of 100 MB',
    async run(ground) {
      const sockets = Array.from({ length: 20 }, () => {
        const socket = connectRaw(
          ground,
          `POST /v1/runs HTTP/1.1\r\n${head(ground, 'agent')}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
        );
        const chunk = `100000\r\n${'x'.repeat(0x10_00_00)}\r\n`;
        let left = 100;
        const more = (): void => {
          while (left > 0 && socket.writable) {
            left -= 1;
            if (!socket.write(chunk)) return void socket.once('drain', more);
          }
        };
        more();
        return socket;
      });
      const refused = await countAnswers(sockets, / 413 /, 30_000);
      const taken = sockets.filter((socket) => / 200 /.test(heard(socket))).length;
      for (const socket of sockets) socket.destroy();
      return { got: `${refused} refused with 413, ${taken} taken`, succeeded: taken > 0 };
    },
  },
  {
    id: 'deep',
    what: 'JSON of 100,000 levels, in a body and in a value',
    async run({ call, begin }) {
      const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
      const body = await call('agent', 'POST', '/v1/runs', deep);
      const run = await begin('agent', plain);
      const inside = await call(
        'agent',
        'POST',
        `/v1/runs/${run}/commands`,
        `{"command":{"type":"note","kind":"decision","text":${deep}}}`,
      );
      const all = [body, inside].map(({ status, code }) => `${status} ${code}`).join(', ');
      return { got: all, succeeded: [body, inside].some(({ status }) => status < 400 || status >= 500) };
    },
  },
  {
    id: 'many',
    what: '2,000 requests at once with a token that may only read',
    async run({ call, begin }) {
      const run = await begin('agent', plain);
      const answers = await Promise.all(
        Array.from({ length: 2_000 }, () => call('reader', 'GET', `/v1/runs/${run}`)),
      );
      const counts = new Map<number, number>();
      for (const { status } of answers) counts.set(status, (counts.get(status) ?? 0) + 1);
      const got = [...counts].map(([status, times]) => `${times} × ${status}`).join(', ');
      return { got, succeeded: counts.has(500) };
    },
  },
  {
    id: 'S8',
    what: 'the server is told to stop while 50 clients wait',
    async run(ground) {
      const run = await ground.begin('agent', plain);
      const ask = `GET /v1/runs/${run}/watch?after=999&ms=25000 HTTP/1.1\r\n${head(ground, 'reader')}\r\n`;
      const sockets = Array.from({ length: 50 }, () => connectRaw(ground, ask));
      await sleep(500);
      const started = performance.now();
      await ground.served.stop();
      const seconds = (performance.now() - started) / 1000;
      for (const socket of sockets) socket.destroy();
      return { got: `ended after ${seconds.toFixed(1)} s`, succeeded: seconds > 10 };
    },
  },
];
