import { realpathSync } from 'node:fs';
import { commandName } from '../../command-name.ts';
import type { FoundHost, SetupContext, SetupRefusal } from '../../runtime/index.ts';
import { isPayload, type Payload, textIn } from '../payload.ts';
import { quoted, type Ran } from '../program.ts';
import { extensionName } from './extension.ts';
import { askGemini } from './program.ts';

export interface InstalledExtension {
  /** The folder that it is loaded from. */
  folder: string;
  version: string | undefined;
  /** In this project. */
  isActive: boolean;
}

/** From the host's own list; null: it is not installed, undefined: there is no list. */
export async function lookInstalled(
  found: FoundHost,
  context: SetupContext,
): Promise<InstalledExtension | null | undefined> {
  const ran = await askGemini(found, ['extensions', 'list', '--output-format', 'json'], context);
  // It is printed where other programs print their errors.
  const list = ran.code === 0 ? (listIn(ran.stdout) ?? listIn(ran.stderr)) : undefined;
  const ours = list?.find(({ name }) => name === extensionName);
  if (!ours) return list && null;
  return {
    folder: textIn(ours, 'path') ?? '',
    version: textIn(ours, 'version'),
    isActive: ours.isActive === true,
  };
}

function listIn(text: string): Payload[] | undefined {
  const [from, to] = [text.search(/^\[/m), text.lastIndexOf(']')];
  if (from < 0 || to < from) return undefined;
  try {
    const value: unknown = JSON.parse(text.slice(from, to + 1));
    return Array.isArray(value) ? value.filter(isPayload) : undefined;
  } catch {
    return undefined;
  }
}

export const commandLine = (args: readonly string[]): string => ['gemini', ...args.map(quoted)].join(' ');

export const noList = ({ version }: FoundHost, command: 'init' | 'uninstall'): SetupRefusal => ({
  code: 'host_failed',
  message: `'gemini extensions list --output-format json' gave no list${version === undefined ? '' : `, in version ${version}`}.`,
  next: `update Gemini CLI, then: ${commandName()} ${command}`,
});

export function failed(args: readonly string[], { code, stdout, stderr }: Ran, next: string): SetupRefusal {
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line.trim() !== '');
  return {
    code: 'host_failed',
    message: `'${commandLine(args)}' failed (exit ${code}):\n  ${lines.slice(-3).join('\n  ')}`,
    next: `fix the problem it reports, then: ${commandName()} ${next}`,
  };
}

export const sameFolder = (one: string, other: string): boolean => real(one) === real(other);

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
