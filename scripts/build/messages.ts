import { join } from 'node:path';
import type { Plugin } from 'esbuild';

/** `STEPFAST_MESSAGES=codes`: every sentence of src/messages is a code, so that nothing can depend on its words. */
export const messages = process.env.STEPFAST_MESSAGES === 'codes' ? 'codes' : 'sentences';

/** Imports only src/messages itself, whose own files import each other directly. */
export const codedMessages = 'test/kit/coded-messages.ts';
const coded = join(import.meta.dirname, '..', '..', codedMessages);
const imported = /\/messages\/index\.ts$/;

const isReplaced = (source: string, importer: string | undefined): boolean =>
  messages === 'codes' && imported.test(source) && importer !== coded;

/** Goes before plugins that resolve relative paths. */
export const codedMessagesInBundle: Plugin = {
  name: 'coded-messages',
  setup({ onResolve }) {
    onResolve({ filter: imported }, ({ path, importer }) =>
      isReplaced(path, importer) ? { path: coded, sideEffects: false } : undefined,
    );
  },
};

/** For vitest's configurations. */
export const codedMessagesInTests = {
  name: 'coded-messages',
  enforce: 'pre' as const,
  resolveId: (source: string, importer?: string): string | undefined =>
    isReplaced(source, importer) ? coded : undefined,
};
