import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { commandsOf, listWorkflows } from '../../definition/index.ts';
import { count } from '../../messages/index.ts';
import type { Check, LocalRuntime } from '../../runtime/index.ts';
import { load } from '../project.ts';

/** As package.json asks for it; an older one starts nothing of ours. */
const needed = [22, 18] as const;

export function checkNode(version: string = process.versions.node): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [needMajor, needMinor] = needed;
  const enough = major > needMajor || (major === needMajor && minor >= needMinor);
  if (enough) return { what: 'Node', state: 'ok', says: version };
  return {
    what: 'Node',
    state: 'wrong',
    says: `${version} is too old`,
    next: `install Node ${needed.join('.')} or newer`,
  };
}

/** Its own files, and whether what they would run may run. */
export function checkProject({ project, searchPath, trust, resolve }: LocalRuntime): Check[] {
  if (!existsSync(join(project.worktree, '.stepfast')))
    return [{ what: 'project', state: 'wrong', says: 'there is no .stepfast here', next: 'stepfast init' }];
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
          next: `stepfast validate ${shown}`,
        },
      ];
    if (base) return [];
    const { definition } = resolve(name);
    if (trust.has(definition)) return [];
    const commands = commandsOf(definition).join('; ');
    return [
      {
        what: 'trust',
        state: 'wrong',
        says: `'${name}' would run commands that nobody trusts on this machine: ${commands}`,
        next: `read them, then: stepfast trust ${name}`,
      },
    ];
  });
  if (checks.length > 0) return checks;
  const says =
    own.length === 0 ? 'bundled workflows only' : `${count(own.length, 'workflow')}, valid and trusted`;
  return [{ what: 'project', state: 'ok', says }];
}
