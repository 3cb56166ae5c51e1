import { appendFileSync, closeSync, constants, openSync, writeFileSync } from 'node:fs';

/** Windows has no such flag, and links there need a right of their own. */
const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_TRUNC, O_WRONLY } = constants;

/** Never through a link: one that comes along with a repository would lead anywhere. */
export function writeOwnFile(file: string, text: string): void {
  using opened = open(file, O_TRUNC);
  writeFileSync(opened.descriptor, text);
}

export function appendOwnFile(file: string, text: string): void {
  using opened = open(file, O_APPEND);
  appendFileSync(opened.descriptor, text);
}

function open(file: string, how: number): { descriptor: number } & Disposable {
  const descriptor = openSync(file, O_WRONLY | O_CREAT | O_NOFOLLOW | how, 0o644);
  return { descriptor, [Symbol.dispose]: () => closeSync(descriptor) };
}
