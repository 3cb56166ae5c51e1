/** Texts that are something else where a server takes them for more than text. */
const hostile = [
  "'; drop table stepfast.runs; --",
  "' or '1'='1",
  "') ; select set_config('stepfast.project', '2', false) ; --",
  '1; select pg_sleep(10)',
  '1 union select hash from stepfast.tokens',
  '%',
  '_______',
  '\\',
  '\u0000',
  'a\u0000b',
  '%00',
  '$1',
  '../../etc/passwd',
  '{{7*7}}',
  '\ud800',
  '__proto__',
  'constructor',
];

export interface HostileCall {
  method: string;
  path: string;
  body?: object;
}

/** Each of them in every place of the API that takes text. */
export function hostileCalls(run: string): HostileCall[] {
  const commands = `/v1/runs/${run}/commands`;
  return hostile.flatMap((text): HostileCall[] => {
    const word = encodeURIComponent(text.toWellFormed());
    const bodies = [
      { command: { type: 'note', kind: 'variable', key: text, text } },
      { command: { type: 'note', kind: 'reminder', key: 'k', text }, key: text },
      { command: { type: 'advance', output: text, at: text } },
      { command: { type: 'status', session: text, tree: text }, key: text },
      { command: { type: 'claim', holder: text, task: text } },
      { command: { type: 'setTasks', loop: text, tasks: [{ id: text, title: text }] } },
      { command: { type: 'session', session: text, event: { type: 'started', host: text, worktree: text } } },
      { command: { type: text } },
      {
        command: { type: 'status' },
        circumstances: { facts: { environment: { [text]: text } }, values: { [text]: text } },
      },
    ];
    return [
      ...[
        `/v1/runs/${word}`,
        `/v1/runs?name=${word}`,
        `/v1/runs?after=${word}`,
        `/v1/runs?live=${word}`,
        `/v1/runs?limit=${word}`,
        `/v1/runs/${run}/entries?after=${word}`,
        `/v1/runs/${run}/texts/${word}`,
        `/v1/runs/${word}/watch?after=0&ms=1`,
        `/v1/runs/${run}/watch?after=${word}&ms=1`,
        `/v1/events?after=${word}`,
      ].map((path) => ({ method: 'GET', path })),
      { method: 'DELETE', path: `/v1/runs/${word}` },
      ...bodies.map((body) => ({ method: 'POST', path: commands, body })),
    ];
  });
}
