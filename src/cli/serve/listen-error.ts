import { StepfastError } from '../../errors.ts';

/** What a port that cannot be used means to a person. */
export function listenError(
  error: unknown,
  { host, port }: { host: string; port: number },
  option = '--port',
): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code !== 'EADDRINUSE' && code !== 'EACCES' && code !== 'EADDRNOTAVAIL') return error;
  const message = `Cannot listen on ${host}:${port} (${code}): choose another port with ${option}`;
  return new StepfastError('no_port', message, { cause: error });
}
