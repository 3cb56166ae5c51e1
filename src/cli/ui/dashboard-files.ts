import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Asset } from '../../server/index.ts';
import { packageRoot } from '../setup/copy-plugin.ts';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The files of the dashboard by path. Paths without a file are pages, which all have the same file. */
export function dashboardFiles(
  folder = join(packageRoot(), 'dist/dashboard'),
): (path: string) => Asset | undefined {
  const files = new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const file = join(entry.parentPath, entry.name);
        return [file.slice(folder.length).replaceAll('\\', '/'), file] as const;
      }),
  );
  return (path) => {
    const name = files.has(path) ? path : extname(path) in types ? undefined : '/index.html';
    const file = name === undefined ? undefined : files.get(name);
    if (name === undefined || file === undefined) return undefined;
    return {
      body: new Uint8Array(readFileSync(file)),
      type: types[extname(file)] ?? 'application/octet-stream',
      isHashed: name.startsWith('/assets/'),
    };
  };
}
