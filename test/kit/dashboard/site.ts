import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { hashDefinition } from '../../../src/definition/index.ts';
import { createEngine, type Engine, newRun } from '../../../src/engine/index.ts';
import type { Definition } from '../../../src/machine/index.ts';
import { createProjects, createTokens } from '../../../src/store/postgres/index.ts';
import { createTestProject, type TestFiles, type TestProject } from '../../../src/testing/index.ts';
import { openDatabase, type TestDatabase } from '../database.ts';
import { becomePerson } from '../server/person.ts';
import { type Cli, createCli, type Served } from '../server/serve.ts';
import { openTerminal } from '../terminal.ts';
import { answerPassphrase, signInTo } from './sign-in.ts';

const cli = join(import.meta.dirname, '../../../dist/cli.js');

/** The dashboard of a project, with an engine beside it that changes runs as agents do. */
export interface Site {
  store: 'files' | 'PostgreSQL';
  engine: Engine;
  url: string;
  /** A page in a browser of its own, signed in as a person who may decide. */
  enter(browser: Browser, options?: BrowserContextOptions): Promise<Page>;
  [Symbol.asyncDispose](): Promise<void>;
}

type ServedProject = Pick<TestProject, 'root' | 'home' | 'runtime' | typeof Symbol.dispose>;

export interface FileSite extends Site {
  project: ServedProject;
  /** One that no browser has used. */
  link(): Promise<string>;
}

export interface TeamSite extends Site {
  database: TestDatabase;
  project: number;
  program: Cli;
  /** Exchanged by a test that restarts it. */
  served: Served;
  /** What Ada's requests decide with. */
  credential: string;
}

/** Until all data and code of the page is there and shown. */
export const whenReady = (page: Page): Promise<void> =>
  page.locator(':root[data-ready]').waitFor({ state: 'attached' });

async function newPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  // Slow is no failure.
  context.setDefaultTimeout(120_000);
  return await context.newPage();
}

/** `stepfast ui` as a person starts it in a terminal. */
export async function openFileSite(
  files: TestFiles = {},
  trusted: readonly Definition[] = [],
): Promise<FileSite> {
  const project = createTestProject(files);
  for (const definition of trusted) project.runtime().trust.give(definition, { now: 1, by: 'person' });
  return await openProjectSite(project);
}

export async function openProjectSite(project: ServedProject): Promise<FileSite> {
  const terminal = await openTerminal({
    directory: join(project.root, '..'),
    cwd: project.root,
    env: { PATH: process.env.PATH ?? '', HOME: project.home, LANG: 'C.UTF-8' },
    columns: 200,
    rows: 30,
    command: [process.execPath, cli, 'ui', '--no-open'],
  });
  const used = new Set<string>();
  const unusedLink = async (): Promise<string | undefined> => {
    await terminal.waitFor(/http:\/\/127\.0\.0\.1:\d+\/open\?token=[\w-]{43}/);
    const shown = [...(await terminal.screen()).matchAll(/http:\S+token=[\w-]{43}/g)].at(-1)?.[0] ?? '';
    return used.has(shown) ? undefined : shown;
  };
  const url = new URL((await unusedLink()) ?? '').origin;
  const link = async (): Promise<string> => {
    let found = await unusedLink();
    if (found === undefined) await terminal.press('Enter');
    while (found === undefined) found = await unusedLink();
    used.add(found);
    return found;
  };
  return {
    store: 'files',
    project,
    engine: project.runtime().engine,
    url,
    link,
    async enter(browser, options) {
      const page = await newPage(browser, options);
      await page.goto(await link());
      return page;
    },
    async [Symbol.asyncDispose]() {
      await terminal.close();
      project[Symbol.dispose]();
    },
  };
}

/** `stepfast serve` over a PostgreSQL of its own. */
export async function openTeamSite(): Promise<TeamSite> {
  const database = await openDatabase();
  const { url: databaseUrl, postgres } = database;
  const { id: project } = await createProjects(databaseUrl).create('shop');
  const invitation = { kind: 'person' as const, name: 'Ada', scopes: ['join'] };
  const { token } = await createTokens(databaseUrl).create(project, invitation);
  const program = createCli({ STEPFAST_DATABASE_URL: databaseUrl });
  const served = await program.serve('--no-jobs', '--rate', '1000000');
  const { credential } = await becomePerson(served.url, token);
  let signedIn: BrowserContextOptions | undefined;
  const site: TeamSite = {
    store: 'PostgreSQL',
    database,
    project,
    program,
    served,
    credential,
    engine: createEngine({ store: postgres.store(project), newRun, hashOf: hashDefinition }),
    url: served.url,
    async enter(browser, options) {
      const page = await newPage(browser, { ...options, ...signedIn });
      await answerPassphrase(page);
      await page.goto(served.url);
      if (signedIn) return page;
      await signInTo(page, { project: 'shop', name: 'Ada' });
      await page.getByLabel('Passphrase').waitFor({ state: 'hidden' });
      signedIn = { storageState: await page.context().storageState() };
      return page;
    },
    async [Symbol.asyncDispose]() {
      await site.served.stop();
      await program.dispose();
      await database[Symbol.asyncDispose]();
    },
  };
  return site;
}
