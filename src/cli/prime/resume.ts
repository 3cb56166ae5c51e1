import type { Io } from '../io.ts';
import { options, prime } from './prime.ts';

export { options };

export const run = (args: readonly string[], io: Io): Promise<number> => prime(args, io, 'restored');
