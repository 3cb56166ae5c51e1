/** `docs/hosts.md`: what works in which host, from the adapters. Every "yes" is a link to the test that proves it. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { hosts, loadHostSetups } from '../src/hosts/index.ts';
import type { Host, HostDriver, HostSetup } from '../src/runtime/index.ts';

interface Row {
  what: string;
  /** undefined: the host does not have it. */
  of(host: Host, more: { setup: HostSetup | undefined; driver: HostDriver | undefined }): string | undefined;
  /** Part of the title of the test that proves it, for each host; `*`: for all others. undefined: nobody has run it. */
  tests: Readonly<Record<string, string | undefined>>;
}

const event = (host: Host, kind: string): string | undefined =>
  host.capabilities.find((each) => each.kind === kind)?.tells;

const start = 'at its start is offered the run, and a typed continue briefs it';
const gate = 'a gate that fails is an attempt and the next prompt, and one that passes ends the step';
/** Tests that an agent with a smoke test has only there. */
const smoke = [start, gate];

const rows: readonly Row[] = [
  {
    what: 'The run is offered at the start of a session, and its briefing follows `continue`',
    of: (host) => (event(host, 'prompt') === 'nothing' ? undefined : 'yes'),
    tests: {
      '*': start,
      gemini: 'briefs a session that is resumed or begun anew',
    },
  },
  {
    what: 'The briefing after a compaction',
    of: ({ compaction }) =>
      ({ exact: 'in the next request', hint: 'at the next prompt or tool', none: undefined })[compaction],
    tests: {
      '*': 'that the person asks for is followed by the briefing, with what was decided',
      gemini: undefined,
    },
  },
  {
    what: 'Delivery is proven; files that are read and written are recorded',
    of: ({ arrival }) => (arrival ? 'yes' : undefined),
    tests: {
      '*': start,
      gemini: undefined,
    },
  },
  {
    what: 'A briefing that is lost on its way is delivered again',
    of: ({ arrival }) => (arrival ? 'yes' : undefined),
    tests: { '*': 'is found missing and comes with a later prompt', gemini: undefined },
  },
  {
    what: '`tools` and `cannot` of an agent',
    of: (host) => (event(host, 'before_tool')?.includes('deny') ? 'yes' : undefined),
    tests: {
      'claude-code': "what the position's agent cannot use is denied",
      codex: 'an agent has its model, and what it may not use is refused by a hook',
      opencode: "and a tool that it forbids isn't there",
      copilot: 'an agent cannot use the tools of its list',
      gemini: 'denies a tool that the agent of the step cannot use',
    },
  },
  {
    what: 'The end of a turn is checked (`stop: check`), also of an agent that calls no tool',
    of: ({ acted }) => (acted ? 'yes' : undefined),
    tests: {
      '*': 'of an agent that never calls a tool of Stepfast is checked',
    },
  },
  {
    what: 'Budgets of turns and tokens in a session',
    of: ({ spending }) => (spending ? 'yes' : undefined),
    tests: {
      '*': 'a budget of turns that is used up ends the work',
    },
  },
  {
    what: 'A task that is typed in the session',
    of: (_, { setup }) => setup && `\`${setup.go} …\``,
    tests: {
      '*': 'a command that is typed starts a run',
      gemini: 'starts a run by a typed command',
    },
  },
  {
    what: 'Decisions that are typed in the session; without it, in a terminal and in the dashboard',
    of: ({ typed }) => (typed ? 'yes' : undefined),
    tests: { 'claude-code': '[U15] [U20] four for five steps with one approval' },
  },
  {
    what: '`clear` and `compact` between steps happen by themselves; without it, the person types them',
    of: ({ resets }) => (resets ? 'yes' : undefined),
    tests: { opencode: 'a clear that the run asks for is performed by the plugin' },
  },
  {
    what: '`stepfast init` and `stepfast uninstall`',
    of: (_, { setup }) => (setup ? 'yes' : undefined),
    tests: {
      '*': 'uninstall leaves every byte as before',
      gemini: 'is linked and unlinked by the host',
    },
  },
  {
    what: '`stepfast doctor --live`',
    of: ({ name }, { setup }) => setup && (name === 'gemini' ? 'only that its extension is valid' : 'yes'),
    tests: {
      'claude-code': 'doctor --live proves every hook of the plugin',
      codex: 'proves the hooks as they are installed',
      opencode: 'doctor --live proves briefing, files and tools',
      copilot: 'finds what keeps hooks from firing, and --live proves each of them',
      gemini: 'is linked and unlinked by the host',
    },
  },
  {
    what: '`stepfast run`',
    of: (_, { driver }) => driver && 'yes',
    tests: {
      '*': gate,
      gemini: 'drives steps, a gate that fails first',
    },
  },
];

const root = join(import.meta.dirname, '..');

/** Where the tests of each host are. */
const folders: Readonly<Record<string, string>> = {
  'claude-code': 'claude',
  codex: 'codex',
  opencode: 'opencode',
  copilot: 'copilot',
  gemini: 'gemini',
};

/** The file of a host that has a test with this title, itself or by what it imports. Throws if there is none. */
function proof(host: string, title: string, files: readonly string[]): string {
  const isSmoke = (file: string): number => Number(smoke.includes(title) && file.includes('/smoke.'));
  const found = files
    .toSorted((a, b) => isSmoke(b) - isSmoke(a))
    .find((file) =>
      [file, ...importsOf(file)].some((each) => readFileSync(join(root, each), 'utf8').includes(title)),
    );
  if (found === undefined) throw new Error(`no test of ${host} has the title '${title}'`);
  return found;
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)]
    .map(([, path = '']) => normalize(join(dirname(file), path)))
    .filter((path) => /(session|driven|driver)-suite\.ts$/.test(path) && existsSync(join(root, path)));
}

export async function hostsPage(listTests: (folder: string) => string[]): Promise<string> {
  const setups = await loadHostSetups();
  const columns = await Promise.all(
    hosts.map(async (host) => ({
      host,
      setup: setups.find(({ name }) => name === host.name),
      driver: await host.driver?.(),
      files: listTests(`test/e2e/${folders[host.name]}`),
    })),
  );
  const cells = rows.map(({ what, of, tests }) => [
    what,
    ...columns.map(({ host, setup, driver, files }) => {
      const answer = of(host, { setup, driver });
      if (answer === undefined) return 'no';
      const title = Object.hasOwn(tests, host.name) ? tests[host.name] : tests['*'];
      if (title === undefined) return `${answer}, not run`;
      return `[${answer}](../${proof(host.name, title, files)})`;
    }),
  ]);
  const reports = columns.map(({ driver }) => driver?.reports.join(', ') ?? '');
  const titles = columns.map(({ setup, host }) => setup?.title ?? host.name);
  const table = (rowsOf: readonly (readonly string[])[]): string =>
    [['', ...titles], ['---', ...titles.map(() => '---')], ...rowsOf]
      .map((row) => `| ${row.join(' | ')} |`)
      .join('\n');
  const events = columns.map(
    ({ host, setup }) =>
      `### ${setup?.title ?? host.name}\n\n| event | what it tells | |\n| --- | --- | --- |\n${host.capabilities
        .map(({ event: name, tells, note }) => `| ${name} | ${tells} | ${note} |`)
        .join('\n')}`,
  );
  return `# Hosts

\`src/hosts/\`: a folder for each agent program. The tables are generated from it by \`npm run generate\`.

\`stepfast init\` sets Stepfast up in every agent program that it finds, by the program's own commands where there are any; \`--host NAME\` chooses (${hosts.map(({ name }) => `\`${name}\``).join(', ')}). It shows every command and every edit first, and \`stepfast uninstall\` takes them back. A run belongs to the project, not to a program: one that was started in one of them is continued in another, with \`continue\`. \`stepfast doctor\` says what is missing, \`stepfast doctor --live\` tries it with the real program.

## What works where

${table([...cells, ['What a budget of `stepfast run` can count', ...reports]])}

Each answer links to the test that proves it, in the real program. "Not run": it is written and has no such test. What survives compactions in each host was measured: [survival](survival.md#other-hosts).

## To know

- **Claude Code.** [Its own page](claude-code.md).
- **Codex.** Plugins are for a user, not for a project. At its next start Codex asks whether the new hooks may run, and after an update again: trust them. It skips hooks that nobody has trusted and says nothing; \`stepfast doctor\` finds that. A check that ends in the background wakes the session through \`codex queue\`. A compaction keeps what you have written, so an old prompt may stand beside the new briefing.
- **OpenCode.** The plugin and the server are entries of \`opencode.json\` in the project. OpenCode runs without a plugin that it cannot load and says nothing; \`stepfast doctor\` finds that. What you stop with Esc is never started again.
- **Copilot CLI.** Plugins are for a user. A briefing comes with the next prompt or tool after a compaction, because the host reports only its beginning. A check that ends in the background is reported at the next prompt.
- **Gemini CLI.** An extension for a user, and \`stepfast run\` over the Agent Client Protocol. No more than that: Google no longer serves individual accounts. After \`uninstall\` the host keeps an empty list of extensions and its own checksum of ours.

## What a host costs

\`npm run bench -- hosts\`, medians of 12 rounds that alternate between the hosts. A hook's time is relative to starting Node with nothing to do; tokens are those that an installation adds to the first request of a session without a run, counted with o200k.

| | hook without a run | session start with a run | tool with a run | tokens |
| --- | --- | --- | --- | --- |
| Claude Code | 0.13 × | 2.0 × | 2.1 × | 280 |
| Codex | 0.10 × | 1.8 × | 2.3 × | 505 |
| OpenCode | 0.10 × | 2.2 × | 1.3 × | 1,144 |
| Copilot CLI | 0.11 × | 2.2 × | 2.0 × | 749 |
| Gemini CLI | 0.10 × | 2.1 × | 1.6 × | not measured |

Claude Code and Codex let the model search for tools; OpenCode lists all of them in every request.

## Documented, not run

VS Code, \`.vscode/mcp.json\`:

\`\`\`json
{ "servers": { "stepfast": { "type": "stdio", "command": "npx", "args": ["-y", "stepfast", "mcp"] } } }
\`\`\`

Cursor, \`.cursor/mcp.json\`:

\`\`\`json
{ "mcpServers": { "stepfast": { "command": "npx", "args": ["-y", "stepfast", "mcp"] } } }
\`\`\`

Both have the tools and no hooks: an agent is told of a run when it calls one.

## Events

What each host tells hooks, and what they can answer.

${events.join('\n\n')}
`;
}
