/**
 * `SECURITY.md`: who may do what on a team server. Each row is tried by `test/e2e/server/threat-model.test.ts` as each
 * principal, with each of its routes and commands. A route or command without a row is an error.
 */
import { commandTypes } from '../src/schema/index.ts';
import { createApp, createLog, createMetrics, defaultLimits } from '../src/server/index.ts';
import { createMemoryBackend } from '../test/kit/server/memory-backend.ts';

export const principals = {
  nobody: 'without a token, with one that has ended, or with one of another project',
  invitation: 'what `stepfast token create NAME --kind person` prints',
  agent:
    "an agent's token; also what lies on a person's disk after `stepfast login`. An operator can add the scope `admin` to delete runs",
  runner: 'the token of a machine that the team trusts to run gates (`--kind runner`); likewise',
  person: 'the credential of a few minutes that a person gets for a passphrase or from an issuer',
  admin: 'the token of an operator (`--kind admin`)',
} as const;

export type PrincipalName = keyof typeof principals;

/** `label`: it is done, and shown for what it is wherever a person decides. */
export type Cell = 'yes' | 'no' | 'label';

export interface Row {
  action: string;
  /** Routes as `METHOD /path`, commands of `POST /v1/runs/:run/commands` by their type. */
  does: readonly string[];
  /** The commands are sent as those of a person. */
  asPerson?: true;
  may: Readonly<Record<PrincipalName, Cell>>;
  /** The test of what is labelled, and of what a row of routes does not show. */
  tests?: readonly string[];
}

const file = 'test/e2e/server/principals.test.ts';
const no = { nobody: 'no', invitation: 'no', agent: 'no', runner: 'no', person: 'no', admin: 'no' } as const;
const workers = { ...no, agent: 'yes', runner: 'yes', person: 'yes' } as const;

export const rows: readonly Row[] = [
  {
    action: 'See that the server is there, sign in and out',
    does: [
      ...['GET /healthz', 'GET /readyz', 'GET /v1/openapi.json', 'GET /v1/sign-in'],
      ...['GET /.well-known/oauth-protected-resource', 'GET /.well-known/oauth-protected-resource/mcp'],
      ...['POST /sign-in/device', 'POST /sign-out'],
    ],
    may: { nobody: 'yes', invitation: 'yes', agent: 'yes', runner: 'yes', person: 'yes', admin: 'yes' },
  },
  {
    action: 'Ask who one is',
    does: ['GET /v1/whoami'],
    may: { nobody: 'no', invitation: 'yes', agent: 'yes', runner: 'yes', person: 'yes', admin: 'yes' },
  },
  {
    action: 'Get a credential with a wrong passphrase',
    does: ['POST /v1/credentials', 'POST /sign-in'],
    may: no,
    tests: ['src/server/people.test.ts: names that strangers make up do not give a token more tries'],
  },
  {
    action: 'Choose a passphrase',
    does: ['POST /v1/people'],
    may: { ...no, invitation: 'yes' },
    tests: ['test/e2e/server/people.test.ts: is set by an invitation, once'],
  },
  {
    action: 'Read the runs of the project',
    does: [
      ...['GET /v1/overview', 'GET /v1/rows', 'GET /v1/rows/events', 'GET /v1/events', 'GET /v1/runs'],
      ...['', '/page', '/briefing', '/files', '/journal', '/log', '/entries', '/watch'].map(
        (page) => `GET /v1/runs/:run${page}`,
      ),
      ...['/texts/:digest', '/workflow', '/workflow/dry-run'].map((page) => `GET /v1/runs/:run${page}`),
      ...['GET /v1/workflows', 'GET /v1/workflows/:name', 'GET /v1/workflows/:name/dry-run'],
      ...['POST /v1/runs/:run/commands', 'status'],
    ],
    may: { ...workers, admin: 'yes' },
    tests: ['src/cli/serve/isolation.process.test.ts: tells and changes nothing of another'],
  },
  {
    action: 'Start a run and work on it, with sessions and tasks of its own',
    does: [
      ...['POST /v1/runs', 'POST /mcp', 'start', 'adopt', 'advance', 'check', 'fail', 'setTasks', 'claim'],
      ...['ask', 'note', 'todo', 'read', 'loaded', 'boundary', 'session', 'spend'],
    ],
    may: workers,
    tests: [`${file}: of others are refused, and a rotated token keeps its own`],
  },
  {
    action: 'Report the results of gates',
    does: [
      ...['gatesStarted', 'gatesFinished', 'prepared', 'cleanupStarted', 'cleanupFinished', 'drive', 'block'],
      ...['mergeStarted', 'mergeFinished', 'holdQueue'],
    ],
    may: { ...workers, agent: 'label', person: 'label' },
    tests: [`${file}: are labelled`],
  },
  {
    action: 'Review work as an agent',
    does: ['review'],
    may: { ...workers, agent: 'label' },
    tests: [
      `${file}: of its own work under another session name is labelled`,
      'src/machine/own-review.test.ts: that must be independent take another principal, or a person',
      'src/machine/own-review.test.ts: an agent cannot abandon a run',
    ],
  },
  {
    action: 'Decide as a person',
    does: [
      ...['review', 'answer', 'proceed', 'rewind', 'dropTask', 'pause', 'unpause', 'retryMerge', 'cancel'],
      'import',
    ],
    asPerson: true,
    may: { ...no, person: 'yes' },
    tests: ['test/e2e/server/people.test.ts: what lies on the disk decides nothing'],
  },
  {
    action: 'Publish a workflow',
    does: ['POST /v1/workflows'],
    may: { ...no, person: 'yes' },
    tests: [`${file}: a project can demand them: by what can act, not by prose`],
  },
  {
    action: 'Make tokens for sessions',
    does: ['POST /v1/tokens'],
    may: { ...no, runner: 'yes' },
    tests: [`${file}: are made by runners only, are agents, and end with it`],
  },
  {
    action: 'Delete a run',
    does: ['DELETE /v1/runs/:run'],
    may: { ...no, admin: 'yes' },
  },
];

/** Answers that the method is wrong. */
const doesNothing = 'ALL /mcp';

/** Read off the server itself: no route of it is forgotten. */
function routesOfServer(): string[] {
  const backend = createMemoryBackend({});
  const { routes } = createApp({
    backend,
    auth: { publicUrl: new URL('https://stepfast.example') },
    hosts: { hosts: new Set(), origins: new Set() },
    limits: defaultLimits,
    log: createLog({ write: () => {} }),
    metrics: createMetrics({ backend }),
    mcp: async () => new Response(),
    version: '',
    clock: Date.now,
  });
  return routes.filter((each) => each !== doesNothing);
}

/** Routes and commands that no row names, and names in rows that no route or command has. */
export function differences(): { uncovered: string[]; unknown: string[] } {
  const all = new Set<string>([...routesOfServer(), ...commandTypes]);
  const named = new Set(rows.flatMap(({ does }) => does));
  return {
    uncovered: [...all].filter((each) => !named.has(each)),
    unknown: [...named].filter((each) => !all.has(each)),
  };
}

const marks: Record<Cell, string> = { yes: 'yes', no: 'no', label: 'labelled' };

/** The page with its table renewed. `titled` tells whether a file has a test whose title contains some words. */
export function securityPage(page: string, titled: (file: string, words: string) => boolean): string {
  const { uncovered, unknown } = differences();
  if (uncovered.length > 0)
    throw new Error(`scripts/threat-model.ts has no row for: ${uncovered.join(', ')}`);
  if (unknown.length > 0)
    throw new Error(`scripts/threat-model.ts has rows for nothing: ${unknown.join(', ')}`);
  const names = Object.keys(principals) as PrincipalName[];
  const lines = [
    `| action | ${names.join(' | ')} | also tested by |`,
    `| --- |${' --- |'.repeat(names.length + 1)}`,
    ...rows.map(({ action, may, tests = [] }) => {
      const links = tests.map((each) => {
        const [path = '', words = ''] = each.split(': ', 2);
        if (!titled(path, words)) throw new Error(`${path} has no test titled '${words}'`);
        return `[${words}](${path})`;
      });
      return `| ${action} | ${names.map((name) => marks[may[name]]).join(' | ')} | ${links.join('<br>')} |`;
    }),
    '',
    ...names.map((name) => `- **${name}**: ${principals[name]}`),
  ];
  return page.replace(/(<!-- table -->\n)[\s\S]*(<!-- end of table -->)/, (_, begin, end) =>
    [begin.trimEnd(), ...lines, end].join('\n'),
  );
}
