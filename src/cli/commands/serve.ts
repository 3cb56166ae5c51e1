import { type Command, json, type Option, yesOption } from './command.ts';

const group = 'Team server';

const databaseOption: Option = [
  '--database-url <url>',
  'PostgreSQL database URL (default: STEPFAST_DATABASE_URL, which keeps the password out of the process list)',
];

export const serve: readonly Command[] = [
  {
    name: 'serve',
    group,
    summary: 'Run the team server',
    usage: 'stepfast serve [--port 7437] [--host 127.0.0.1] [--public-url https://...]',
    about:
      'Serves a JSON API, MCP tools for agents and event streams over PostgreSQL, and runs background jobs. Any number of servers can share a database. Logs are JSON lines on stdout. The server requires a migrated database, finishes in-flight requests on shutdown, and speaks plain HTTP: put TLS in front of it. Every option can be set by an environment variable of its name, such as STEPFAST_PUBLIC_URL for --public-url, STEPFAST_ALLOW_HOST=a,b for a repeatable one and STEPFAST_NO_JOBS=true for one without a value; the command line takes precedence.',
    options: [
      databaseOption,
      ['--host <address>', 'Address to listen on (default: 127.0.0.1)'],
      ['--port <port>', 'Port to listen on; 0 picks a free port (default: 7437)'],
      ['--metrics-port <port>', 'Port that serves /metrics for Prometheus (default: none)'],
      ['--metrics-host <address>', 'Address of that port (default: 127.0.0.1)'],
      ['--public-url <url>', 'URL that clients use; required unless the server listens on loopback'],
      ['--allow-host <host>', 'Additional Host header to accept; repeatable'],
      ['--allow-origin <origin>', 'Origin of web pages that may call the server; repeatable'],
      ['--proxies <number>', 'Number of trusted reverse proxies that set X-Forwarded-For (default: 0)'],
      ['--issuer <url>', 'OAuth 2.1 issuer whose access tokens are also accepted'],
      ['--jwks <url|file>', 'JSON Web Key Set of the issuer'],
      [
        '--client-id <id>',
        'Client that gets people a token to decide from the issuer, by device flow (default: none)',
      ],
      [
        '--client-scope <scopes>',
        'Scopes that it requests from the issuer (default: openid read write gates decide)',
      ],
      ['--audience <url>', 'Required audience of issued tokens (default: the public URL)'],
      ['--project-claim <name>', 'Claim with the project name (default: stepfast_project)'],
      ['--kind-claim <name>', 'Claim with agent, runner, person or admin (default: stepfast_kind)'],
      ['--scope-claim <name>', 'Claim with the scopes (default: scope)'],
      ['--connections <number>', 'Size of the database connection pool (default: 16)'],
      ['--rate <number>', 'Requests per second and token (default: 1000)'],
      ['--project-runs <number>', 'Runs that a project may have (default: 1000000)'],
      ['--project-workflows <number>', 'Different workflows that runs of a project may use (default: 10000)'],
      ['--project-megabytes <number>', 'Megabytes that a project may store (default: 100000)'],
      ['--retention-months <number>', 'Delete ended runs after this many months (default: never)'],
      ['--no-jobs', 'Do not run webhooks, reminders and cleanup on this server'],
      ['--webhooks-allow-http', 'Allow webhooks to http URLs'],
      ['--webhooks-allow-private', 'Allow webhooks to private and local addresses'],
      ['--log-level <level>', 'fatal, error, warn, info, debug or silent (default: info)'],
      ['--migrate', 'Migrate the database before starting'],
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
    summary: "Create or migrate the server's database",
    usage: 'stepfast migrate',
    about:
      'Applies pending migrations, each in a transaction. The user in the URL must own the database. Idempotent, and safe to run concurrently. Servers of the previous version keep working.',
    options: [databaseOption, json],
    examples: ['stepfast migrate'],
    load: () => import('../serve/migrate.ts'),
  },
  {
    name: 'project',
    group,
    summary: 'Create, list, rename, restrict, export and remove projects on the server',
    usage:
      'stepfast project create <name> | list | rename <name> <new name> | publish-only <name> on|off | export <name> | remove <name>',
    about:
      'A project has its own runs and tokens and is isolated from other projects. With `publish-only` no workflow with commands starts there that nobody has published. `export` writes each run to a file of its own, which `stepfast import` reads, and `project.json` with tokens (without secrets) and the audit. `remove` ends the tokens first, then deletes everything in the project.',
    options: [
      ['-o, --output <directory>', 'Directory to export to (default: <name>-export)'],
      yesOption,
      databaseOption,
      json,
    ],
    examples: [
      'stepfast project create shop',
      'stepfast project rename shop store',
      'stepfast project publish-only store on',
      'stepfast project export store --output store-backup',
      'stepfast project remove store',
    ],
    load: () => import('../serve/project.ts'),
  },
  {
    name: 'audit',
    group,
    summary: 'Show who did what on the server',
    usage: 'stepfast audit [--project <project>] [--limit <number>]',
    about:
      'Lists changes of projects and tokens, published workflows, decisions and deleted runs, with who did it, from which address and the id of the request in the log. Without --project it lists all projects.',
    options: [
      ['--project <project>', 'Only this project'],
      ['--limit <number>', 'How many of the newest entries (default: 100)'],
      databaseOption,
      json,
    ],
    examples: ['stepfast audit', 'stepfast audit --project shop --json'],
    load: () => import('../serve/audit.ts'),
  },
  {
    name: 'token',
    group,
    summary: 'Create, list, rotate and revoke tokens of a project',
    usage: 'stepfast token create <name> | list | rotate <id> | revoke <id> --project <project>',
    about:
      'A token is of an agent, a runner (a machine that is trusted to run gates) or an admin. It is printed once, alone on stdout; only its hash is stored. Scopes: read reads runs, write starts and advances them, gates reports gate results, admin deletes runs. With `--kind person` it is an invitation: the person logs in with it once, chooses a passphrase, and makes decisions with that. `rotate` creates a token with the same name and rights, and ends the old one after a while. `list` shows when a token was last used, to the minute.',
    options: [
      ['--project <project>', 'Project of the token'],
      ['--kind <kind>', 'agent, runner, person or admin (default: agent)'],
      ['--scope <scopes>', 'Comma-separated scopes; repeatable'],
      ['--agents <number>', 'How many agents use the token at a time; scales its limits (default: 16)'],
      [
        '--expires <time>',
        'Lifetime: 12h, 30d, 2w or never (default: 90d, invitations 7d; rotate: as before)',
      ],
      ['--grace <time>', 'How long a rotated token still works: 24h, 30m or 0 (default: 24h)'],
      databaseOption,
      json,
    ],
    examples: [
      'stepfast token create ci --project shop',
      'stepfast token create Ada --project shop --kind person',
      'stepfast token rotate 4f1a09c2d3e4b5a6 --project shop',
      'stepfast token revoke 4f1a09c2d3e4b5a6 --project shop',
    ],
    load: () => import('../serve/token.ts'),
  },
  {
    name: 'people',
    group,
    summary: 'List and remove the people of a project',
    usage: 'stepfast people list | remove <name> --project <project>',
    about:
      'People decide with a passphrase, which they choose with an invitation: stepfast token create <name> --project <project> --kind person. `remove` deletes the passphrase of a person who leaves and revokes every token of that name. What they decided stays in the runs.',
    options: [['--project <project>', 'Project of the people'], databaseOption, json],
    examples: ['stepfast people list --project shop', 'stepfast people remove Ada --project shop'],
    load: () => import('../serve/people.ts'),
  },
  {
    name: 'webhook',
    group,
    summary: 'Send run events to another service',
    usage: 'stepfast webhook add <url> | list | remove <id> | redeliver <id> --project <project>',
    about:
      'Deliveries are signed according to Standard Webhooks; the secret is printed once. A failed delivery is retried for two days with the same id, then kept until you redeliver it.',
    options: [
      ['--project <project>', 'Project of the webhook'],
      ['--events <types>', 'Comma-separated event types, such as run.completed or run.* (default: all)'],
      ['--allow-http', 'Allow an http URL'],
      ['--allow-private', 'Allow a private or local address'],
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
