import { afterAll, beforeAll } from 'vitest';
import { openDatabase, type TestDatabase } from '../../../test/kit/database.ts';
import { storeContract } from '../../../test/kit/store-contract.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

storeContract('PostgreSQL', async () => ({ store: database.postgres.store(await database.project()) }));
