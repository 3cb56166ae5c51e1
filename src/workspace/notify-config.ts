import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { StepfastError } from '../errors.ts';
import { nearest } from '../suggest.ts';

/** How the user is notified: `notify` in the user's own configuration. */
export interface NotifyConfig {
  /** Rings the terminal of the process that changed the run, where it has one. */
  bell?: boolean;
  /** A shell command; it gets what happened in variables. */
  command?: string;
  /** An address that gets what happened as JSON. */
  webhook?: string;
}

const keys = ['bell', 'command', 'webhook'] as const;

/** Undefined without a file or without `notify` in it. Throws `bad_config`. */
export function readNotifyConfig(file: string): NotifyConfig | undefined {
  const bad = (what: string): StepfastError => new StepfastError('bad_config', `${file}: ${what}`);
  const text = textOf(file, bad);
  if (text === undefined) return undefined;
  const { notify } = record(parseOr(text, bad) ?? {}) ?? {};
  if (notify === undefined || notify === null) return undefined;
  const given = record(notify);
  if (!given) throw bad("'notify' must be a map, such as { bell: true }.");
  for (const key of Object.keys(given)) {
    if (keys.some((each) => each === key)) continue;
    const meant = nearest(key, keys);
    const hint = meant === undefined ? `It takes ${keys.join(', ')}.` : `Write '${meant}'.`;
    throw bad(`'notify' has no key '${key.slice(0, 80)}'. ${hint}`);
  }
  const { bell, command, webhook } = given;
  if (bell !== undefined && typeof bell !== 'boolean') throw bad("'notify.bell' must be true or false.");
  if (command !== undefined && (typeof command !== 'string' || command.trim() === ''))
    throw bad("'notify.command' must be a shell command.");
  if (webhook !== undefined && !isAddress(webhook))
    throw bad("'notify.webhook' must be an https address; http only for this machine.");
  return {
    ...(bell === undefined ? {} : { bell }),
    ...(command && { command }),
    ...(webhook && { webhook }),
  };
}

function isAddress(value: unknown): value is string {
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  const { protocol, hostname } = new URL(value);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host);

function textOf(file: string, bad: (what: string) => StepfastError): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw bad(`it cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function parseOr(text: string, bad: (what: string) => StepfastError): unknown {
  try {
    return parse(text, { maxAliasCount: 0 });
  } catch (error) {
    throw bad(`it is not valid YAML: ${error instanceof Error ? error.message.split('\n', 1)[0] : ''}`);
  }
}

const record = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
