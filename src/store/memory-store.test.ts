import { storeContract } from '../../test/kit/store-contract.ts';
import { createMemoryStore } from './memory-store.ts';

storeContract('memory', async () => ({ store: createMemoryStore() }));
