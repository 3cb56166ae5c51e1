import { afterAll, beforeAll } from 'vitest';
import { storeContract } from '../../../src/store/contract.ts';
import { startDatabase, type TestDatabase } from '../../kit/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await startDatabase();
}, 240_000);
afterAll(() => database[Symbol.asyncDispose](), 240_000);

storeContract('PostgreSQL', async () => ({ store: database.postgres.store(await database.project()) }));
