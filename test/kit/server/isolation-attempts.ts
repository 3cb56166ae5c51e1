import { definition } from './http.ts';

/** What one project has, each word of it its own. */
export interface Side {
  name: string;
  token: string;
  person: string;
  run: string;
  suffix: string;
  at: string;
  digest: string;
  /** In what it said, its notes, its workflow's name: nowhere in anything of the other. */
  secret: string;
  /** The call that began its run. */
  beginning: object;
}

export interface Attempt {
  path: string;
  body?: unknown;
  /** What its owner gets for the same call; where it is left out, the call would change or end something. */
  own?: number;
}

/** How each route is asked for what belongs to the other side. A route that is not here fails the first test. */
export const attempts: Record<string, (side: Side, other: Side) => Attempt[]> = {
  'POST /v1/runs': ({ run, secret, beginning }) => [
    { path: '/v1/runs', body: beginning, own: 200 },
    {
      path: '/v1/runs',
      body: { definition, command: { type: 'start', session: secret }, once: { run, key: 'same' } },
      own: 422,
    },
  ],
  'GET /v1/runs': ({ run, suffix }) => [
    { path: `/v1/runs?name=${run}`, own: 200 },
    { path: `/v1/runs?name=${suffix}`, own: 200 },
    { path: '/v1/runs', own: 200 },
    { path: '/v1/runs?live=true', own: 200 },
    { path: `/v1/runs?after=9999999999999_${run}`, own: 200 },
  ],
  'GET /v1/runs/:run': ({ run }) => [{ path: `/v1/runs/${run}`, own: 200 }],
  'POST /v1/runs/:run/commands': ({ run, at }) =>
    [
      { type: 'status' },
      { type: 'status', at },
      { type: 'advance', output: 'x', at },
      { type: 'fail', reason: 'x' },
      { type: 'note', kind: 'decision', text: 'x' },
      { type: 'review', verdict: 'approve', actor: { kind: 'person' } },
      { type: 'cancel', actor: { kind: 'person' } },
      { type: 'rewind', to: 'plan', actor: { kind: 'person' } },
      { type: 'gatesFinished', id: `${at}!1`, receipts: [{ gate: 0, pass: true }] },
    ].flatMap((command) => [
      {
        path: `/v1/runs/${run}/commands`,
        body: { command },
        ...(command.type === 'status' ? { own: 200 } : {}),
      },
      // The key of the other side's own call.
      { path: `/v1/runs/${run}/commands`, body: { command, key: 'same' } },
    ]),
  'GET /v1/runs/:run/entries': ({ run }) => [
    { path: `/v1/runs/${run}/entries`, own: 200 },
    { path: `/v1/runs/${run}/entries?after=0`, own: 200 },
  ],
  'GET /v1/runs/:run/texts/:digest': ({ run, digest }, other) => [
    { path: `/v1/runs/${run}/texts/${digest}`, own: 200 },
    // A digest is no key: also not beside a run of one's own.
    { path: `/v1/runs/${other.run}/texts/${digest}` },
  ],
  'GET /v1/runs/:run/watch': ({ run }) => [{ path: `/v1/runs/${run}/watch?after=0&ms=100`, own: 200 }],
  'DELETE /v1/runs/:run': ({ run }) => [{ path: `/v1/runs/${run}` }],
  // A stream has no end: it has a test of its own.
  'GET /v1/events': () => [],
  'GET /v1/overview': () => [{ path: '/v1/overview', own: 200 }],
  'GET /v1/rows': ({ secret, suffix }) => [
    { path: '/v1/rows', own: 200 },
    { path: '/v1/rows?tone=working&limit=5', own: 200 },
    { path: `/v1/rows?text=${secret}`, own: 200 },
    { path: `/v1/rows?text=${suffix}`, own: 200 },
  ],
  'GET /v1/rows/events': () => [],
  'GET /v1/runs/:run/page': ({ run }) => [{ path: `/v1/runs/${run}/page`, own: 200 }],
  'GET /v1/runs/:run/journal': ({ run }) => [{ path: `/v1/runs/${run}/journal`, own: 200 }],
  'GET /v1/runs/:run/briefing': ({ run }) => [{ path: `/v1/runs/${run}/briefing`, own: 200 }],
  'GET /v1/runs/:run/log': ({ run, at }) => [
    { path: `/v1/runs/${run}/log?gate=0&check=${encodeURIComponent(`${at}!1`)}` },
  ],
  // A server has no files to tell of.
  'GET /v1/runs/:run/files': ({ run }) => [{ path: `/v1/runs/${run}/files` }],
  'GET /v1/runs/:run/workflow': ({ run }) => [{ path: `/v1/runs/${run}/workflow`, own: 200 }],
  'GET /v1/runs/:run/workflow/dry-run': ({ run }) => [
    { path: `/v1/runs/${run}/workflow/dry-run`, own: 200 },
    { path: `/v1/runs/${run}/workflow/dry-run?seed=1&tasks=3`, own: 200 },
  ],
  'GET /v1/workflows': () => [{ path: '/v1/workflows', own: 200 }],
  'GET /v1/workflows/:name': ({ secret }) => [{ path: `/v1/workflows/${secret}`, own: 200 }],
  'GET /v1/workflows/:name/dry-run': ({ secret }) => [{ path: `/v1/workflows/${secret}/dry-run`, own: 200 }],
  // Refused to the agents of both sides: that only a person publishes and only a runner makes tokens is tested elsewhere.
  'POST /v1/workflows': () => [
    { path: '/v1/workflows', body: { definition: { ...definition, name: 'published' } }, own: 403 },
  ],
  'POST /v1/tokens': ({ secret }) => [{ path: '/v1/tokens', body: { name: secret, seconds: 60 }, own: 403 }],
  // Names and passphrases belong to a project. That an invitation is used once is tested elsewhere.
  'POST /v1/people': ({ secret }) => [
    { path: '/v1/people', body: { passphrase: secret.repeat(3) }, own: 403 },
  ],
  'POST /v1/credentials': ({ secret }) => [
    { path: '/v1/credentials', body: { passphrase: secret }, own: 403 },
  ],
  'GET /v1/whoami': () => [{ path: '/v1/whoami', own: 200 }],
};
