import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openStore, temporaryDirectory } from '../../../test/kit/file-store.ts';
import { createMemoryStore } from '../../../test/kit/memory-store.ts';
import { storeAnswers, storeCalls } from '../../../test/kit/store-model.ts';

test('the file store and the memory store return the same results for the same calls', async () => {
  const root = temporaryDirectory();
  let count = 0;
  await fc.assert(
    fc.asyncProperty(storeCalls, async (calls) => {
      count += 1;
      const directory = join(root, `${count}`);
      const memory = createMemoryStore();
      expect(await storeAnswers(() => openStore(directory), calls)).toEqual(
        await storeAnswers(() => memory, calls),
      );
    }),
    { numRuns: 60 },
  );
});
