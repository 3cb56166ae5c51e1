import { appendFileSync, closeSync, constants, openSync, writeFileSync } from 'node:fs';

/** Windows has no such flag, and links there need a right of their own. */
const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_TRUNC, O_WRONLY } = constants;

/** Never through a link: one that comes along with a repository would lead anywhere. */
export const writeNoFollow = (file: string, text: string): void =>
  opened(file, O_TRUNC, (descriptor) => writeFileSync(descriptor, text));

export const appendNoFollow = (file: string, text: string): void =>
  opened(file, O_APPEND, (descriptor) => appendFileSync(descriptor, text));

function opened(file: string, how: number, write: (descriptor: number) => void): void {
  const descriptor = openSync(file, O_WRONLY | O_CREAT | O_NOFOLLOW | how, 0o644);
  try {
    write(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
