import { readInput } from '../hook/stdin.ts';
import { statusline } from './line.ts';

/** A program of its own, because it is started often: `statusline.cjs`. Always succeeds. */
async function main(): Promise<void> {
  process.stdout.write(await statusline(readInput(), { env: process.env, now: Date.now() }));
}

main().catch(() => {});
