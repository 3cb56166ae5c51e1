import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { commandName } from '../../command-name.ts';
import { grantsOf, listWorkflows } from '../../definition/index.ts';
import { count, grantText } from '../../messages/index.ts';
import { onPath } from '../../on-path.ts';
import type { Check, LocalRuntime } from '../../runtime/index.ts';
import { isNetworkFileSystem } from '../../store/index.ts';
import type { Io } from '../io.ts';
import { load } from '../project.ts';

/** The minimum version in package.json. */
const minVersion = [22, 18] as const;

export function checkNode(version: string = process.versions.node): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [minMajor, minMinor] = minVersion;
  const enough = major > minMajor || (major === minMajor && minor >= minMinor);
  if (enough) return { what: 'Node', state: 'ok', says: version };
  return {
    what: 'Node',
    state: 'wrong',
    says: `${version} is too old`,
    next: `install Node ${minVersion.join('.')} or newer`,
  };
}

/** Printed commands begin with `name`. */
export function checkCommand(name: string, env: Io['env']): Check {
  const what = 'command';
  const [program = ''] = name.split(' ');
  if (onPath(program, env) !== undefined) return { what, state: 'ok', says: name };
  return {
    what,
    state: 'wrong',
    says: `commands are printed as '${name} …', and ${program} is not on the PATH`,
    next: 'npm install --global stepfast',
  };
}

/** Concurrent appends to a journal are not atomic on a network file system. */
export function checkFileSystem(directory: string, isNetwork = isNetworkFileSystem): Check[] {
  if (!existsSync(directory) || !isNetwork(directory)) return [];
  return [
    {
      what: 'file system',
      state: 'wrong',
      says: '.stepfast is on a network file system, where concurrent writes can damage a run',
      next: `move the project to a local disk, or keep its runs on a server (${commandName()} login)`,
    },
  ];
}

/** Checks that the project's workflows are valid and trusted. */
export function checkProject({ project, searchPath, trust, resolve }: LocalRuntime): Check[] {
  if (!existsSync(join(project.worktree, '.stepfast')))
    return [
      { what: 'project', state: 'wrong', says: 'no .stepfast directory', next: `${commandName()} init` },
    ];
  const own = listWorkflows(searchPath.filter(({ kind }) => kind === 'project'));
  const checks = own.flatMap(({ name, file }): Check[] => {
    const shown = relative(project.worktree, file);
    const { diagnostics, base } = load(file, searchPath);
    const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
    if (errors > 0)
      return [
        {
          what: 'workflow',
          state: 'wrong',
          says: `${shown} has ${count(errors, 'error')}`,
          next: `${commandName()} validate ${shown}`,
        },
      ];
    if (base) return [];
    const { definition } = resolve(name);
    if (trust.has(definition)) return [];
    const commands = grantsOf(definition).map(grantText).join('; ');
    return [
      {
        what: 'trust',
        state: 'wrong',
        says: `'${name}' runs commands that are not trusted on this machine: ${commands}`,
        next: `review them, then: ${commandName()} trust ${name}`,
      },
    ];
  });
  if (checks.length > 0) return checks;
  const says =
    own.length === 0 ? 'bundled workflows only' : `${count(own.length, 'workflow')}, valid and trusted`;
  return [{ what: 'project', state: 'ok', says }];
}
