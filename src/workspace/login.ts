import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandName } from '../command-name.ts';
import { StepfastError } from '../errors.ts';

/** A server and its token. */
export interface Login {
  url: string;
  token: string;
}

const version = 1;

/**
 * The server on which new runs of a project begin: from the environment, else from `stepfast login`. Throws
 * `bad_config` for an incomplete setting, so that runs do not silently begin elsewhere.
 */
export function serverFor(
  root: string,
  stateDirectory: string,
  env: Readonly<Record<string, string | undefined>>,
): Login | undefined {
  const named = env.STEPFAST_URL?.trim();
  if (!named) return readLogin(root, stateDirectory);
  const url = serverUrl(named, 'STEPFAST_URL');
  const token = env.STEPFAST_TOKEN?.trim();
  if (token) return { url, token: plainToken(token, 'STEPFAST_TOKEN') };
  const kept = readLogin(root, stateDirectory);
  if (kept?.url === url) return kept;
  const message = `STEPFAST_URL names ${url}, and there is no token for it: set STEPFAST_TOKEN, or: ${commandName()} login ${url}`;
  throw new StepfastError('bad_config', message);
}

/** The normalized URL, so that two can be compared. Throws `bad_config`. */
export function serverUrl(text: string, what: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const bad = (why: string) => new StepfastError('bad_config', `${what} '${text.slice(0, 120)}' ${why}`);
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw bad('is not a server URL: give one such as https://stepfast.example.com');
  if (url.username !== '' || url.password !== '')
    throw bad('holds a user or password: leave them out, and give a token');
  if (url.search !== '' || url.hash !== '') throw bad('has a query: give the address alone');
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** A token that is valid in a header. Throws `bad_config`. */
export function plainToken(text: string, what: string): string {
  if (/^[\x21-\x7e]{8,4096}$/.test(text)) return text;
  throw new StepfastError(
    'bad_config',
    `${what} is not a token: paste the line that \`stepfast token create\` printed`,
  );
}

const fileOf = (root: string, stateDirectory: string): string =>
  join(stateDirectory, 'servers', `${createHash('sha256').update(root).digest('hex').slice(0, 32)}.json`);

export function keepLogin(root: string, stateDirectory: string, { url, token }: Login): void {
  const file = fileOf(root, stateDirectory);
  mkdirSync(join(stateDirectory, 'servers'), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}.tmp`;
  // With `wx`, so that the file is new and gets this mode.
  rmSync(temporary, { force: true });
  writeFileSync(temporary, `${JSON.stringify({ v: version, root, url, token })}\n`, {
    flag: 'wx',
    mode: 0o600,
  });
  renameSync(temporary, file);
}

/** Returns the server's URL. */
export function dropLogin(root: string, stateDirectory: string): string | undefined {
  const url = readLogin(root, stateDirectory)?.url;
  rmSync(fileOf(root, stateDirectory), { force: true });
  return url;
}

export function readLogin(root: string, stateDirectory: string): Login | undefined {
  try {
    const read: unknown = JSON.parse(readFileSync(fileOf(root, stateDirectory), 'utf8'));
    if (typeof read !== 'object' || read === null) return undefined;
    // Each field is checked below.
    const { v, root: of, url, token } = read as Record<string, unknown>;
    if (v !== version || of !== root || typeof url !== 'string' || typeof token !== 'string')
      return undefined;
    return { url, token };
  } catch {
    return undefined;
  }
}
