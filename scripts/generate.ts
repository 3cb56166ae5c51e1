/** Writes the generated files; with `--check` it only reports whether they are up to date. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withTable } from '../lab/seeds/table.ts';
import { drawSvg } from '../src/cli/graph/svg.ts';
import { createIo } from '../src/cli/io.ts';
import { referencePage } from '../src/cli/reference.ts';
import { run } from '../src/cli/run.ts';
import { loadWorkflowTemplate, workflowJsonSchema } from '../src/definition/index.ts';
import { pluginHooks } from '../src/hosts/claude-code/index.ts';
import { pluginHooks as copilotHooks, pluginManifest } from '../src/hosts/copilot/index.ts';
import { extensionFolder, extensionHooks, extensionManifest } from '../src/hosts/gemini/index.ts';
import { createGraph } from '../src/runtime/index.ts';
import { stateJsonSchema } from '../src/store/state-schema.ts';
import { hostsPage } from './hosts-page.ts';
import { securityPage } from './threat-model.ts';

process.chdir(join(import.meta.dirname, '..'));
const check = process.argv.includes('--check');

const { name, version, description, author, license, keywords } = JSON.parse(
  readFileSync('package.json', 'utf8'),
);

/** Of the Agent Plugins format, for clients that have no adapter here. */
const agentPlugins = 'https://agent-plugins.org/schemas/1.0.0';
const ownServer = {
  type: 'stdio',
  command: 'node',
  args: [['${PLUGIN', 'ROOT}/dist/cli.js'].join('_'), 'mcp', '--tools-only'],
};

const generated: Record<string, () => string | Promise<string>> = {
  'docs/requirements.md': () => withTable(readFileSync('docs/requirements.md', 'utf8')),
  'schema/workflow.schema.json': () => `${JSON.stringify(workflowJsonSchema(), null, 2)}\n`,
  'schema/state.schema.json': () => `${JSON.stringify(stateJsonSchema(), null, 2)}\n`,
  'hooks/hooks.json': () => `${JSON.stringify(pluginHooks(), null, 2)}\n`,
  'plugin.json': () =>
    `${JSON.stringify(
      {
        $schema: `${agentPlugins}/plugin.schema.json`,
        ...{ name, version, description, license, keywords },
        author: { name: author },
      },
      null,
      2,
    )}\n`,
  'mcp.json': () =>
    `${JSON.stringify({ $schema: `${agentPlugins}/mcp.schema.json`, mcpServers: { stepfast: ownServer } }, null, 2)}\n`,
  [`${extensionFolder}/gemini-extension.json`]: () =>
    `${JSON.stringify(extensionManifest(version), null, 2)}\n`,
  [`${extensionFolder}/hooks/hooks.json`]: () => `${JSON.stringify(extensionHooks(), null, 2)}\n`,
  'copilot/hooks.json': () => `${JSON.stringify(copilotHooks(), null, 2)}\n`,
  'copilot/plugin.json': () => `${JSON.stringify(pluginManifest(version), null, 2)}\n`,
  'docs/example.svg': () => drawSvg(createGraph(loadWorkflowTemplate('docs/example.yaml'))),
  'docs/validate.md': validationPage,
  'docs/cli.md': referencePage,
  'docs/hosts.md': () => hostsPage(testsIn),
  'SECURITY.md': () =>
    securityPage(readFileSync('SECURITY.md', 'utf8'), (file, words) =>
      readFileSync(file, 'utf8').includes(words),
    ),
};

for (const [file, make] of Object.entries(generated)) {
  const text = await make();
  if (!check) {
    writeFileSync(file, text);
    console.log(`wrote ${file}`);
  } else if (read(file) !== text) {
    console.error(`${file} is out of date: run npm run generate`);
    process.exitCode = 1;
  }
}

function testsIn(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.test.ts'));
  return names.map((name) => `${folder}/${name}`);
}

async function validationPage(): Promise<string> {
  let output = '';
  const pipe = { write: (text: string) => (output += text) };
  const io = createIo({ stdout: pipe, stderr: pipe, env: {}, cwd: () => process.cwd() });
  await run(['validate', 'docs/mistakes.yaml'], io);
  return `# Validation

\`src/definition/\`, \`src/cli/validate.ts\`. All errors come at once, each with file, line, column, what is wrong and what to write instead. This page is generated from [mistakes.yaml](mistakes.yaml).

\`\`\`yaml mistakes
${readFileSync('docs/mistakes.yaml', 'utf8')}\`\`\`

\`\`\`console
$ stepfast validate docs/mistakes.yaml
${output.trimEnd()}
\`\`\`

The exit status is 1. \`--json\` prints the same as one document:

\`\`\`console
$ stepfast validate docs/mistakes.yaml --json
\`\`\`

\`\`\`json
${firstDiagnostic(await validateJson(io))}
\`\`\`

Editors check a workflow as it is written when its first line names the schema:

\`\`\`yaml
# yaml-language-server: $schema=../../node_modules/stepfast/schema/workflow.schema.json
\`\`\`
`;
}

async function validateJson(io: ReturnType<typeof createIo>): Promise<string> {
  let json = '';
  const stdout = {
    ...io.stdout,
    write: (text: string) => {
      json += text;
    },
  };
  await run(['validate', 'docs/mistakes.yaml', '--json'], { ...io, stdout });
  return json;
}

/** One entry represents all. */
function firstDiagnostic(json: string): string {
  const document = JSON.parse(json);
  for (const file of document.files) file.diagnostics = file.diagnostics.slice(0, 1);
  return JSON.stringify(document, null, 2);
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').replaceAll('\r\n', '\n');
  } catch {
    return undefined;
  }
}
