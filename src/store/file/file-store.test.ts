import { join } from 'node:path';
import { storeContract } from '../../../test/kit/store-contract.ts';
import { openStore, temporaryDirectory } from '../../../test/kit/file-store.ts';

storeContract('file', async () => ({ store: openStore(join(temporaryDirectory(), '.stepfast', 'runs')) }));
