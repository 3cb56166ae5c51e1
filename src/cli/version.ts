import { readFileSync } from 'node:fs';

/** The package's version, from the nearest manifest above this file. */
export function version(): string {
  for (let directory = new URL('.', import.meta.url); ; directory = new URL('..', directory)) {
    const manifest = readManifest(new URL('package.json', directory));
    if (manifest?.name === 'stepfast' && manifest.version !== undefined) return manifest.version;
    if (directory.pathname === new URL('..', directory).pathname) return 'unknown';
  }
}

function readManifest(url: URL): { name?: string; version?: string } | undefined {
  try {
    return JSON.parse(readFileSync(url, 'utf8'));
  } catch {
    return undefined;
  }
}
