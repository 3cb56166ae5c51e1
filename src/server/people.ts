import type { CredentialAnswer, Scope, TokenAnswer } from '../schema/index.ts';
import { networkOf } from './address-network.ts';
import type { Backend } from './backend.ts';
import type { Issuer } from './jwt.ts';
import { hashPassphrase, isPassphrase } from './passphrase.ts';
import type { Principal } from './principal.ts';
import { problem } from './problem.ts';
import { createRateLimit } from './rate-limit.ts';

/** A person whose passphrase is checked. */
interface Claimed {
  project: { id: number; name: string };
  name: string;
}

/** In a browser: what it reads with, and what it decides with for the next minutes. */
export interface SignedIn {
  principal: Principal;
  reading: string;
  deciding: string;
}

interface Credential extends CredentialAnswer {
  id: string;
}

/** People prove with a passphrase who they are, and get a credential of a few minutes. Each throws a problem. */
export interface People {
  /** With an invitation: sets the passphrase, and returns a token for the person's agents. */
  join(invitation: Principal, passphrase: string): Promise<TokenAnswer>;
  /** With the token of the person's agents, or in a browser that is signed in. */
  credential(principal: Principal, passphrase: string): Promise<Credential>;
  /** For the browser of a person whom an issuer knows. */
  reading(principal: Principal): Promise<string>;
  signIn(
    claimed: { project: string; name: string; passphrase: string },
    address: string | undefined,
  ): Promise<SignedIn>;
}

const loginSeconds = 90 * 86_400;
const decidingSeconds = 5 * 60;
export const readingSeconds = 12 * 3600;
const deciding: readonly Scope[] = ['read', 'write', 'gates', 'decide'];
const readOnly: readonly Scope[] = ['read'];

const triesPerMinute = 5;
/** Of one network, with whatever names. */
const networkTriesPerMinute = 60;
/** A check takes a tenth of a second, so the last of them waits a few. Strangers do not take the places of tokens. */
const maxChecking = { token: 64, browser: 32 };

export function createPeople({
  backend,
  issuer,
  clock,
}: {
  backend: Pick<Backend, 'people' | 'projectNamed'>;
  /** Where people sign in with their issuer, passphrases are nothing: it knows who has left. */
  issuer?: Issuer | undefined;
  clock(): number;
}): People {
  const perMinute = (burst: number) => createRateLimit({ perSecond: burst / 60, burst, clock });
  // Limits forget the oldest names. Those that strangers make up do not push out those of tokens.
  const tries = { token: perMinute(triesPerMinute), browser: perMinute(triesPerMinute) };
  const networkTries = perMinute(networkTriesPerMinute);
  const checking = { token: 0, browser: 0 };
  return { join, credential, reading, signIn };

  async function join({ id, project, name }: Principal, passphrase: string): Promise<TokenAnswer> {
    requirePassphrases();
    const secret = await hashPassphrase(passphrase);
    const joined = await backend.people(project.id).join(id, secret, loginSeconds);
    if (!joined)
      throw problem('forbidden', 'This invitation was used or has ended.', { next: invite(name, project) });
    return { ...joined, name };
  }

  async function credential(principal: Principal, passphrase: string): Promise<Credential> {
    const { id, project, name, issued } = principal;
    if (issued)
      throw problem('forbidden', `'${name}' has no passphrase here.`, {
        next: `sign in again with ${issued.issuer}`,
      });
    // A token that others hold does not use up the tries of its namesake in a browser.
    await check({ project, name }, passphrase, { token: id });
    return await made({ project, name }, { scopes: deciding, seconds: decidingSeconds, parent: id });
  }

  async function signIn(
    { project: named, name, passphrase }: { project: string; name: string; passphrase: string },
    address: string | undefined,
  ): Promise<SignedIn> {
    const project = (await backend.projectNamed(named)) ?? { id: 0, name: named };
    // Strangers know names: what they try from their addresses does not keep a person out.
    await check({ project, name }, passphrase, { network: networkOf(address ?? '') });
    const read = await made({ project, name }, { scopes: readOnly, seconds: readingSeconds });
    const principal: Principal = { id: read.id, project, kind: 'person', name, scopes: readOnly };
    const decide = await made(principal, { scopes: deciding, seconds: decidingSeconds, parent: read.id });
    return { principal, reading: read.token, deciding: decide.token };
  }

  async function reading({ project, name }: Principal): Promise<string> {
    return (await made({ project, name }, { scopes: readOnly, seconds: readingSeconds })).token;
  }

  async function check(
    { project, name }: Claimed,
    passphrase: string,
    { token, network }: { token?: string; network?: string },
  ): Promise<void> {
    requirePassphrases();
    const from = network === undefined ? 'token' : 'browser';
    if (checking[from] >= maxChecking[from])
      throw problem('unavailable', 'Too many people sign in at once.', { next: 'retry in a moment' });
    const key = JSON.stringify([project.name, name, token, network]);
    // The network comes first: one that is over its limit leaves no names behind.
    const isAllowed = network === undefined || networkTries.take(network);
    if (!isAllowed || !tries[from].take(key)) {
      if (isAllowed && network !== undefined) networkTries.refund(network);
      throw problem('too_many_tries', 'Too many wrong passphrases.', {
        next: 'wait a minute, then try again',
        headers: { 'Retry-After': '60' },
      });
    }
    checking[from] += 1;
    const isRight = await (async () => {
      const secret = project.id === 0 ? undefined : await backend.people(project.id).secretOf(name);
      return await isPassphrase(passphrase, secret);
    })().finally(() => {
      checking[from] -= 1;
    });
    if (!isRight)
      throw problem(
        'wrong_passphrase',
        network === undefined ? 'Wrong passphrase.' : 'The project, the name or the passphrase is wrong.',
        { next: 'if you forgot the passphrase, ask for a new invitation' },
      );
    tries[from].refund(key);
    if (network !== undefined) networkTries.refund(network);
  }

  function requirePassphrases(): void {
    if (issuer?.client)
      throw problem('forbidden', 'People sign in here with their issuer, not with a passphrase.', {
        next: `sign in with ${issuer.issuer}`,
      });
  }

  async function made(
    { project, name }: Claimed,
    { scopes, seconds, parent }: { scopes: readonly Scope[]; seconds: number; parent?: string },
  ): Promise<Credential> {
    const expires = clock() + seconds * 1000;
    const token = await backend.people(project.id).makeCredential(name, { parent, scopes, seconds });
    if (!token) throw problem('forbidden', 'This token has ended, or there are too many credentials.');
    return { ...token, expires };
  }
}

const invite = (name: string, { name: project }: { name: string }): string =>
  `ask for an invitation: stepfast token create ${name} --project ${project} --kind person`;
