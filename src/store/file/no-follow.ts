import { appendFileSync, closeSync, constants, openSync, writeFileSync } from 'node:fs';

/** Windows has no O_NOFOLLOW; creating links there needs a privilege. */
const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_TRUNC, O_WRONLY } = constants;

/** Does not follow a symbolic link: a link in a cloned repository could point anywhere. */
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
