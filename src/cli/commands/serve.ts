import { type Command, json, type Option } from './command.ts';

const group = 'Team server';

const databaseOption: Option = [
  '--database-url <url>',
  'The PostgreSQL database; STEPFAST_DATABASE_URL by default, which keeps a password out of the list of processes',
];

export const serve: readonly Command[] = [
  {
    name: 'serve',
    group,
    summary: 'Serve the runs of a team over HTTP',
    usage: 'stepfast serve [--port 7437] [--host 127.0.0.1] [--public-url https://...]',
    about:
      'A JSON API, the tools of an agent over MCP, event streams and what happens by itself, over PostgreSQL. Any number of servers may work on one database. Logs are JSON lines on stdout. It refuses a database that is not migrated, finishes what runs when it is stopped, and speaks plain HTTP: put TLS in front. STEPFAST_PORT, STEPFAST_HOST, STEPFAST_PUBLIC_URL, STEPFAST_ISSUER and STEPFAST_JWKS stand for the options of their names.',
    options: [
      databaseOption,
      ['--host <address>', 'Where to listen; 127.0.0.1 by default'],
      ['--port <port>', 'Where to listen; 7437 by default, 0 for any that is free'],
      ['--public-url <url>', 'The address that clients use; needed where others than this machine reach it'],
      ['--allow-host <host>', 'Another name that it answers to; may be given several times'],
      ['--allow-origin <origin>', 'Pages that may call it; may be given several times'],
      ['--proxies <number>', 'Proxies of yours in front, whose X-Forwarded-For counts; 0 by default'],
      ['--issuer <url>', 'An OAuth 2.1 issuer whose access tokens are taken beside our own'],
      ['--jwks <url|file>', "The issuer's public keys"],
      ['--audience <url>', 'Whom its tokens must be for; the public address by default'],
      ['--project-claim <name>', 'The claim that names the project; stepfast_project by default'],
      ['--kind-claim <name>', 'The claim that says agent or person; stepfast_kind by default'],
      ['--scope-claim <name>', 'The claim with the scopes; scope by default'],
      ['--connections <number>', 'Connections to the database; 16 by default'],
      ['--rate <number>', 'Requests a second that one token may send; 1000 by default'],
      ['--retention-months <number>', 'Forget months whose runs ended so long ago; never by default'],
      ['--no-jobs', 'Leave webhooks, reminders and sweeps to other servers'],
      ['--webhooks-allow-http', 'Also to addresses without TLS'],
      ['--webhooks-allow-private', 'Also to private and local addresses'],
      ['--log-level <level>', 'fatal, error, warn, info, debug or silent; info by default'],
      ['--migrate', 'Migrate the database first'],
    ],
    examples: [
      'stepfast serve',
      'stepfast serve --host 0.0.0.0 --public-url https://stepfast.example.com --proxies 1',
    ],
    load: () => import('../serve/serve.ts'),
  },
  {
    name: 'migrate',
    group,
    summary: "Make or renew the server's database",
    usage: 'stepfast migrate',
    about:
      'Applies what the database lacks, each step whole or not at all, as the user in its URL, who must own the database. Safe to run again and from several places at once; servers of the version before go on working.',
    options: [databaseOption, json],
    examples: ['stepfast migrate'],
    load: () => import('../serve/migrate.ts'),
  },
  {
    name: 'project',
    group,
    summary: 'Make and list projects of the server',
    usage: 'stepfast project create <name> | list',
    about: 'A project has its own runs and tokens, and sees nothing of any other.',
    options: [databaseOption, json],
    examples: ['stepfast project create shop', 'stepfast project list'],
    load: () => import('../serve/project.ts'),
  },
  {
    name: 'token',
    group,
    summary: 'Make, list and revoke tokens of a project',
    usage: 'stepfast token create <name> | list | revoke <id> --project <project>',
    about:
      "A token is an agent's or a person's; only a person's may decide what a person decides. It is printed once, alone on stdout, and only its hash is kept. Scopes: read looks at runs, write moves them on, gates reports what gates said, decide is a person's, admin removes runs. An agent gets read, write and gates, a person decide as well.",
    options: [
      ['--project <project>', 'Whose token it is'],
      ['--kind <kind>', 'agent or person; agent by default'],
      ['--scope <scopes>', 'What it may do, with commas between; may be given several times'],
      ['--expires <time>', 'How long it is good: 12h, 30d, 2w or never; 90d by default'],
      databaseOption,
      json,
    ],
    examples: [
      'stepfast token create ci --project shop',
      'stepfast token create Ada --project shop --kind person --expires 30d',
      'stepfast token revoke 4f1a09c2d3e4b5a6 --project shop',
    ],
    load: () => import('../serve/token.ts'),
  },
  {
    name: 'webhook',
    group,
    summary: 'Tell another service what happens to runs',
    usage: 'stepfast webhook add <url> | list | remove <id> | redeliver <id> --project <project>',
    about:
      'Deliveries are signed as Standard Webhooks are; the secret is printed once. One that fails is repeated for two days with the same id, then kept until it is redelivered.',
    options: [
      ['--project <project>', 'Whose runs'],
      ['--events <types>', 'Which events, with commas between, * at the end for a family; all by default'],
      ['--allow-http', 'The address may be one without TLS'],
      ['--allow-private', 'The address may be private or local'],
      databaseOption,
      json,
    ],
    examples: [
      'stepfast webhook add https://chat.example.com/hooks/stepfast --project shop --events run.*,approval.waiting',
      'stepfast webhook list --project shop',
    ],
    load: () => import('../serve/webhook.ts'),
  },
];
