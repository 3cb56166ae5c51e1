import type { RemoteEngine } from '../engine/index.ts';
import { StepfastError } from '../errors.ts';
import { capitalized, count, printable } from '../messages/index.ts';
import { maxPassphrase, minPassphrase } from '../schema/index.ts';
import { whyNotAPerson } from './caller.ts';
import type { Io } from './io.ts';

const tries = 3;

/**
 * Gets a credential of a few minutes from the person at the terminal: it decides, and what is on disk does not. Never
 * inside an agent's session, which could read what is typed.
 */
export const credentialFrom =
  (io: Io) =>
  async (server: RemoteEngine): Promise<string> => {
    const why = whyNotAPerson(io);
    if (why !== undefined)
      throw new StepfastError('person_only', `Only a person can decide on ${server.url}: ${why}.`);
    const { issuer, client_id: client, scope = '' } = await server.signIn();
    if (issuer !== undefined && client !== undefined)
      return await byDevice(io, { issuer, client, scope, resource: server.url });
    const { kind, name } = await server.whoami();
    const elsewhere = `log in as yourself, or decide in the dashboard at ${server.url}.`;
    if (kind === 'runner')
      throw new StepfastError(
        'person_only',
        `This checkout is logged in as runner '${name}', which cannot decide. ${capitalized(elsewhere)}`,
      );
    for (let left = tries; ; left -= 1) {
      io.stderr.write(`Passphrase of ${printable(name)} on ${server.url} (not shown): `);
      const passphrase = await io.stdin.secret();
      io.stderr.write('\n');
      if (!passphrase) throw new StepfastError('declined', 'Nothing was changed.');
      try {
        return (await server.credential(passphrase)).token;
      } catch (error) {
        if (!(error instanceof StepfastError) || error.code !== 'wrong_passphrase') throw error;
        if (left === 1)
          throw new StepfastError(
            'wrong_passphrase',
            `Wrong passphrase. If you forgot it, ask the operator for a new invitation. If '${name}' is an agent, ${elsewhere}`,
          );
        io.stderr.write('Wrong passphrase.\n');
      }
    }
  };

async function byDevice(
  io: Io,
  request: { issuer: string; client: string; scope: string; resource: string },
): Promise<string> {
  const { requestDeviceCode, waitForToken } = await import('../device-flow.ts');
  const device = await requestDeviceCode(request);
  const [url, code] = [printable(device.url), printable(device.code)];
  io.stderr.write(`To decide, open ${url} and check that it shows the code ${code}\n`);
  return await waitForToken(request, device);
}

/** A new passphrase, typed twice; undefined if the person gave up. */
export async function newPassphrase(io: Io): Promise<string | undefined> {
  for (let left = tries; left > 0; left -= 1) {
    io.stderr.write(`Choose a passphrase of at least ${minPassphrase} characters (not shown): `);
    const first = await io.stdin.secret();
    io.stderr.write('\n');
    if (!first) return undefined;
    const problem = problemOf(first);
    if (problem !== undefined) {
      io.stderr.write(`${problem}\n`);
      continue;
    }
    io.stderr.write('Type it again: ');
    const second = await io.stdin.secret();
    io.stderr.write('\n');
    if (first === second) return first;
    io.stderr.write('The passphrases do not match.\n');
  }
  return undefined;
}

function problemOf(passphrase: string): string | undefined {
  const { length } = passphrase.trim();
  if (length < minPassphrase) return `That has only ${count(length, 'character')}.`;
  if (passphrase.length > maxPassphrase) return `Use at most ${maxPassphrase} characters.`;
  return new Set(passphrase.trim()).size === 1 ? 'Use more than one character.' : undefined;
}
