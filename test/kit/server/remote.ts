import { hash, randomBytes } from 'node:crypto';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { createDatabasePages } from '../../../src/cli/serve/database-pages.ts';
import { listRuns } from '../../../src/cli/serve/run-list.ts';
import { hashDefinition } from '../../../src/definition/index.ts';
import { createEngine, type Engine, newRun } from '../../../src/engine/index.ts';
import { type Scope, scopes } from '../../../src/schema/index.ts';
import {
  type Backend,
  createApp,
  createLog,
  createMetrics,
  defaultLimits,
  hostRules,
  listen,
  type TokenRecord,
} from '../../../src/server/index.ts';
import { openDatabase } from '../database.ts';

/** A real server over a real PostgreSQL, with one project. */
export interface Team extends AsyncDisposable {
  url: string;
  port: number;
  /** The project's engine, without HTTP. */
  engine: Engine;
  token(kind: 'agent' | 'person', given?: readonly Scope[]): string;
  /** Lets it be called by another port, as by a proxy. */
  allow(port: number): void;
  /** Queries the database as the superuser. */
  query(sql: string): Promise<unknown[]>;
}

export async function startTeam(): Promise<Team> {
  const database = await openDatabase();
  const { postgres } = database;
  const project = { id: await database.project(), name: 'project-1' };
  const tokens = new Map<string, TokenRecord>();
  const engine = (id: number): Engine =>
    createEngine({ store: postgres.store(id), newRun, hashOf: hashDefinition });
  const backend: Backend = {
    engine,
    pages: (id) => createDatabasePages(postgres, engine(id), id),
    list: (id, request) => listRuns(postgres.rows(id), request),
    sessions: (id) => postgres.sessions(id),
    publications: (id) => postgres.publications(id),
    people: (id) => postgres.people(id),
    tail: (id, after, limit) => postgres.tail(id, after, limit),
    onWake: (listener) => postgres.onWake(listener),
    findToken: async (hash) => tokens.get(hash),
    makeToken: (...args) => postgres.makeToken(...args),
    useToken: async () => undefined,
    audit: (...args) => postgres.audit(...args),
    projectNamed: (name) => postgres.projectNamed(name),
    ready: () => postgres.ready(),
    close: () => postgres.close(),
  };
  // The port is known only when it listens.
  const hosts = { hosts: new Set<string>(), origins: new Set<string>() };
  const publicUrl = new URL('https://stepfast.example');
  const limits = { ...defaultLimits, perSecond: 10_000, burst: 10_000 };
  const app = createApp({
    backend,
    auth: { publicUrl },
    hosts,
    limits,
    log: createLog({ write: () => {} }),
    metrics: createMetrics({ backend }),
    version: '0.0.0-test',
    clock: Date.now,
  });
  const listening = await listen(app, { host: '127.0.0.1', port: 0, limits });
  const allow = (port: number): void => {
    for (const host of hostRules({ publicUrl, host: '127.0.0.1', port }).hosts) hosts.hosts.add(host);
  };
  allow(listening.port);
  return {
    url: `http://127.0.0.1:${listening.port}`,
    port: listening.port,
    engine: engine(project.id),
    allow,
    query: database.sql,
    token(
      kind,
      given = scopes.filter((scope) => scope !== 'join' && (kind === 'person' || scope !== 'decide')),
    ) {
      const id = randomBytes(4).toString('hex');
      const token = `sf_${id}_${randomBytes(32).toString('base64url')}`;
      tokens.set(hash('sha256', token, 'hex'), {
        id,
        project,
        kind,
        name: kind === 'person' ? 'ann' : 'robot',
        scopes: given,
      });
      return token;
    },
    async [Symbol.asyncDispose]() {
      await listening.close();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** Between a client and a server: a network that can fail. */
export interface Wire extends AsyncDisposable {
  url: string;
  /** `cut`: the server performs the call and its reply is lost. `away`: no server listens. `hang`: no reply. */
  mode: 'on' | 'cut' | 'away' | 'hang';
  /** Answers that were cut off. */
  lost: number;
  /** Connections refused while no server listened. */
  refused: number;
}

export async function startWire({ port, allow }: Pick<Team, 'port' | 'allow'>): Promise<Wire> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((client) => {
    if (wire.mode === 'away') {
      wire.refused += 1;
      return void client.destroy();
    }
    const far = connect(port, '127.0.0.1');
    for (const socket of [client, far]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    client.on('data', (bytes) => (wire.mode === 'away' ? client.destroy() : far.write(bytes)));
    far.on('data', (bytes) => {
      if (wire.mode === 'on') return void client.write(bytes);
      if (wire.mode === 'hang') return;
      wire.lost += 1;
      client.destroy();
      far.destroy();
    });
    client.on('close', () => far.destroy());
    far.on('close', () => wire.mode !== 'hang' && client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const own = typeof address === 'object' && address ? address.port : 0;
  allow(own);
  const wire: Wire = {
    url: `http://127.0.0.1:${own}`,
    mode: 'on',
    lost: 0,
    refused: 0,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return wire;
}
