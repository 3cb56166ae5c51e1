import { messages } from '../../scripts/build/messages.ts';

/** Golden files of sentences are skipped where sentences are codes. */
export const coded = messages === 'codes';
