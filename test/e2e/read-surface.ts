import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createDatabase } from '../kit/database.ts';
import { commandLines, commandsIn, exitsIn, exportsIn, type Schema, schemaLines } from './surface-lines.ts';

/** Commands that the overview leaves out. */
const hiddenCommands = ['complete', 'gate-runner', 'hook', 'notifier'];
/** Programs that hosts start. */
const programs = ['hook.cjs', 'statusline.cjs'];
/** Routes that the OpenAPI document leaves out. */
const plainRoutes = [
  'GET /healthz',
  'GET /readyz',
  'GET /v1/openapi.json',
  'GET /.well-known/oauth-protected-resource',
  'GET /.well-known/oauth-protected-resource/mcp',
  'POST /mcp',
];

/** Every name that a caller of the built package can use. The package's other files are beside `dist`. */
export async function readSurface(dist: string): Promise<Set<string>> {
  const home = mkdtempSync(join(tmpdir(), 'stepfast-surface-'));
  try {
    return new Set([
      ...readCommands(dist, home),
      ...(await readMcp(dist, home)),
      ...(await readRoutes(dist, home)),
      ...(await readPackage(dist)),
    ]);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

const environment = (home: string): Record<string, string> => ({ PATH: process.env.PATH ?? '', HOME: home });

function readCommands(dist: string, home: string): string[] {
  const help = (...args: string[]): string | undefined => {
    try {
      const options = { cwd: home, env: environment(home), encoding: 'utf8', stdio: 'pipe' } as const;
      return execFileSync(process.execPath, [join(dist, 'cli.js'), ...args], options);
    } catch {
      return undefined;
    }
  };
  const overview = help('--help', '--all') ?? '';
  return [
    ...commandLines('cli', overview),
    ...(help('help') === undefined ? [] : ['cli help']),
    ...exitsIn(overview).map((status) => `cli exit ${status}`),
    ...[...commandsIn(overview), ...hiddenCommands].flatMap((command) => {
      const text = help(command, '--help');
      return text === undefined ? [] : commandLines(`cli ${command}`, text);
    }),
    ...programs.filter((file) => existsSync(join(dist, file))).map((file) => `program dist/${file}`),
  ];
}

async function readMcp(dist: string, home: string): Promise<string[]> {
  const client = new Client({ name: 'surface', version: '1' });
  const args = [join(dist, 'cli.js'), 'mcp'];
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, cwd: home, env: environment(home) }),
  );
  try {
    const { tools } = await client.listTools();
    const { prompts } = await client.listPrompts();
    const { resources } = await client.listResources();
    const { resourceTemplates } = await client.listResourceTemplates();
    return [
      ...tools.flatMap(({ name, inputSchema, outputSchema }) => [
        `mcp tool ${name}`,
        ...schemaLines(`mcp tool ${name} input`, inputSchema as Schema),
        ...schemaLines(`mcp tool ${name} output`, (outputSchema ?? {}) as Schema),
      ]),
      ...prompts.flatMap(({ name, arguments: given = [] }) => [
        `mcp prompt ${name}`,
        ...given.map((each) => `mcp prompt ${name} ${each.name}`),
      ]),
      ...resources.map(({ uri }) => `mcp resource ${uri}`),
      ...resourceTemplates.map(({ uriTemplate }) => `mcp resource ${uriTemplate}`),
    ];
  } finally {
    await client.close();
  }
}

async function readRoutes(dist: string, home: string): Promise<string[]> {
  await using database = await createDatabase('template0');
  const env = { ...environment(home), STEPFAST_DATABASE_URL: database.url };
  const server = spawn(process.execPath, [join(dist, 'cli.js'), 'serve', '--migrate', '--port', '0'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exit = once(server, 'exit');
  try {
    const url = await addressIn(server.stderr);
    const answers = await Promise.all(
      plainRoutes.map(async (route) => {
        const [method = '', path] = route.split(' ');
        return (await fetch(`${url}${path}`, { method })).status === 404 ? [] : [`http ${route}`];
      }),
    );
    const described = (await (await fetch(`${url}/v1/openapi.json`)).json()) as OpenApi;
    return [...answers.flat(), ...routeLines(described)];
  } finally {
    server.kill();
    await exit;
  }
}

async function addressIn(stderr: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const chunk of stderr) {
    text += chunk;
    const url = /http:\/\/[\w.:[\]-]+/.exec(text)?.[0];
    if (url !== undefined) return url;
  }
  throw new Error(`the server does not start: ${text}`);
}

interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
}

interface Operation {
  parameters?: { name: string; in: string; schema: Schema }[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
}

type Content = Record<string, { schema: Schema }>;

const routeLines = ({ paths }: OpenApi): string[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters = [], requestBody, responses }]) => {
      const route = `http ${method.toUpperCase()} ${path}`;
      const contents = (what: string, content: Content = {}): string[] =>
        Object.entries(content).flatMap(([type, { schema }]) => [
          `${route} ${what} ${type}`,
          ...schemaLines(`${route} ${what}`, schema),
        ]);
      return [
        route,
        ...parameters.flatMap(({ in: part, name, schema }) =>
          schemaLines(`${route} ${part}`, { properties: { [name]: schema } }),
        ),
        ...contents('body', requestBody?.content),
        ...Object.entries(responses).flatMap(([status, { content }]) => contents(status, content)),
      ];
    }),
  );

async function readPackage(dist: string): Promise<string[]> {
  const root = dirname(dist);
  const json = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'));
  const manifest: { name: string; bin: object; exports: Record<string, string | Record<string, string>> } =
    json('package.json');
  const entries = Object.entries(manifest.exports);
  const libraries = entries.flatMap(([path, target]) =>
    typeof target === 'string' ? [] : [readLibrary(join(manifest.name, path), root, target)],
  );
  return [
    ...Object.keys(manifest.bin).map((name) => `package bin ${name}`),
    ...entries.flatMap(([path, target]) =>
      typeof target === 'string'
        ? [`package export ${path}`]
        : Object.keys(target).map((condition) => `package export ${path} ${condition}`),
    ),
    ...(await Promise.all(libraries)).flat(),
    ...Object.keys(json('hooks/hooks.json').hooks).map((event) => `plugin hook ${event}`),
    ...readdirSync(join(root, 'skills')).map((name) => `plugin skill ${name}`),
  ];
}

async function readLibrary(
  name: string,
  root: string,
  { types, default: main }: Record<string, string>,
): Promise<string[]> {
  const values = Object.keys(await import(pathToFileURL(join(root, main ?? '')).href));
  const declared = (file: string): string[] =>
    exportsIn(readFileSync(file, 'utf8'), (path) =>
      declared(join(dirname(file), path.replace(/(\.d)?\.[jt]s$/, '.d.ts'))),
    );
  return [
    ...values.map((value) => `library ${name} value ${value}`),
    ...declared(join(root, types ?? '')).map((each) => `library ${name} ${each}`),
  ];
}
