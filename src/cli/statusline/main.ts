import { readInput } from '../hook/stdin.ts';
import { statusline } from './line.ts';

/** Bundled separately as `statusline.cjs`, because hosts start it often. Always succeeds. */
async function main(): Promise<void> {
  process.stdout.write(await statusline(readInput(), { env: process.env, now: Date.now() }));
}

main().catch(() => {});
