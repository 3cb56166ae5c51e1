import { join } from 'node:path';
import { openStore, temporaryDirectory } from '../../../test/kit/file-store.ts';
import { storeContract } from '../../../test/kit/store-contract.ts';

storeContract('file', async () => ({ store: openStore(join(temporaryDirectory(), '.stepfast', 'runs')) }));
