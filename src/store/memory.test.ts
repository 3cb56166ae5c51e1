import { storeContract } from './contract.ts';
import { createMemoryStore } from './index.ts';

storeContract('memory', async () => ({ store: createMemoryStore() }));
