import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { onPath } from './on-path.ts';

let find = (): string => 'stepfast';
let found: string | undefined;

/** How this program is started in a shell. Every printed command begins with it, so that it works as printed. */
export function commandName(): string {
  found ??= find();
  return found;
}

/** Called once by a program at its start. The search runs when the first command is printed. */
export function useCommandName(search: () => string): void {
  find = search;
  found = undefined;
}

interface Installation {
  /** The entry file of the command line. */
  main: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** Folders that npm and npx add to the PATH of the programs they start: a person's shell does not have them. */
const isAddedByNpm = (folder: string): boolean => folder.endsWith(join('node_modules', '.bin'));

/** `stepfast` where a shell finds it, `npx stepfast` for a package of npm, else the file, which always works. */
export function findCommandName({ main, env }: Installation): string {
  if (onPath('stepfast', env, isAddedByNpm) !== undefined) return 'stepfast';
  if (isPackage(main) || isRecorded(join(dirname(main), '..', '..'))) return npx;
  return `node ${quoted(main)}`;
}

const npx = 'npx stepfast';
const isPackage = (main: string): boolean => main.includes(join(sep, 'node_modules', 'stepfast', sep));

const record = 'command';

/** Hosts start a copy of this program, so `init` records beside the copies how the person starts it. */
export const recordCommandName = (plugins: string): void =>
  writeFileSync(join(plugins, record), `${commandName()}\n`);

function isRecorded(plugins: string): boolean {
  try {
    return readFileSync(join(plugins, record), 'utf8').trim() === npx;
  } catch {
    return false;
  }
}

const quoted = (file: string): string => (/^[\w@%+=:,./\\-]+$/.test(file) ? file : `"${file}"`);

/** A command of the documentation as it is typed in this installation. */
export const asTyped = (text: string): string =>
  text.replace(/(?<![\w/:.-])(?:npx )?stepfast(?= [a-z<])/g, () => commandName());
