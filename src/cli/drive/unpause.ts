import type { Io } from '../io.ts';
import { options, setPaused } from './pause.ts';

export { options };

export const run = (args: readonly string[], io: Io): Promise<number> => setPaused(args, io, 'unpause');
