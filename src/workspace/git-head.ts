import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

export interface GitHead {
  commit?: string;
  /** Absent for a detached HEAD. */
  branch?: string;
}

const maxBytes = 32 * 1024 * 1024;
/** Of symbolic refs; git itself follows five. */
const maxLinks = 5;
const commitId = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/** Reads git's files instead of running git; empty without a repository or with another ref format. */
export function readGitHead(directory: string): GitHead {
  const own = gitDirectory(directory);
  if (own === undefined) return {};
  const common = resolve(own, read(join(own, 'commondir')).trim() || '.');
  let value = read(join(own, 'HEAD')).trim();
  const name = /^ref: (refs\/.+)$/.exec(value)?.[1];
  for (let links = 0; links < maxLinks && value.startsWith('ref: '); links += 1)
    value = referenceIn(value.slice(5), own, common);
  const branch = name?.startsWith('refs/heads/') ? name.slice('refs/heads/'.length) : undefined;
  return {
    ...(commitId.test(value) ? { commit: value } : {}),
    // Repositories with another ref format have `.invalid`.
    ...(branch === undefined || branch === '.invalid' ? {} : { branch }),
  };
}

/** The nearest one upwards: that of a worktree, or a bare repository. */
function gitDirectory(from: string): string | undefined {
  for (let top = resolve(from); ; top = dirname(top)) {
    const dot = join(top, '.git');
    const kind = statSync(dot, { throwIfNoEntry: false });
    if (kind?.isDirectory()) return dot;
    const named = kind?.isFile() ? /^gitdir:\s*(.+?)\s*$/m.exec(read(dot))?.[1] : undefined;
    if (named !== undefined) return resolve(top, named);
    if (existsSync(join(top, 'HEAD')) && existsSync(join(top, 'objects'))) return top;
    if (top === dirname(top)) return undefined;
  }
}

/** The value of a ref: the worktree's before the shared one, loose before packed. */
function referenceIn(name: string, own: string, common: string): string {
  if (!name.startsWith('refs/') || name.split('/').includes('..')) return '';
  const loose = [own, common].map((each) => read(join(each, name)).trim()).find((value) => value !== '');
  if (loose !== undefined) return loose;
  const line = read(join(common, 'packed-refs'))
    .split('\n')
    .find((each) => each.trimEnd().endsWith(` ${name}`));
  return line?.split(' ', 1)[0] ?? '';
}

function read(file: string): string {
  try {
    const stats = statSync(file);
    return stats.isFile() && stats.size <= maxBytes ? readFileSync(file, 'utf8') : '';
  } catch {
    return '';
  }
}
