import { join } from 'node:path';
import { storeContract } from '../../../test/kit/store-contract.ts';
import { openStore, temporaryDirectory } from './temporary.ts';

storeContract('file', async () => ({ store: openStore(join(temporaryDirectory(), '.stepfast', 'runs')) }));
