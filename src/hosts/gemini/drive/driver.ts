import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StepfastError } from '../../../errors.ts';
import type { DrivenOptions } from '../../../runtime/index.ts';
import { type AcpAgent, createAcpDriver, tokensIn } from '../../acp/index.ts';
import { isPayload, type Payload, partIn, textIn } from '../../payload.ts';
import { hostName } from '../parse-payload.ts';
import { programName } from '../program.ts';
import { variables } from '../variables.ts';
import { hasRules, policyFor } from './policy.ts';

const agent: AcpAgent = {
  name: hostName,
  program: programName,
  title: 'Gemini CLI',
  // Tokens as the model service bills them, also those from its cache; an interrupted turn reports none.
  reports: ['turns', 'tokens', 'minutes'],
  launch,
  toolName: (call) =>
    /^(.+?)__/.exec(textIn(call, 'toolCallId') ?? '')?.[1] ?? textIn(call, 'title') ?? 'tool',
  isOwn,
  tokens: (answer) =>
    tokensIn(
      partIn(partIn(partIn(answer, '_meta'), 'quota'), 'token_count'),
      'input_tokens',
      'output_tokens',
    ),
};

/** `gemini --acp`. It has no command for a compression there, and compresses by itself. */
export const geminiDriver = createAcpDriver(agent);

function launch(options: DrivenOptions, folder: string): { args: string[]; env: DrivenOptions['env'] } {
  const { model, permissions, env } = options;
  if (permissions === 'yolo')
    throw new StepfastError(
      'bad_permissions',
      "The approval mode 'yolo' is refused for a session without a person. Name the allowed tools in the workflow, under `tools` of its agent.",
    );
  const others = systemPolicies.find(hasPolicies);
  if (others !== undefined && hasRules(options))
    throw new StepfastError(
      'bad_permissions',
      `Gemini CLI ignores the workflow's \`tools\` and \`cannot\`, because this machine has policies of its own in ${others}. Use another host, or an agent without these lists.`,
    );
  const policy = join(folder, 'stepfast.toml');
  writeFileSync(policy, policyFor(options), { mode: 0o600 });
  const own = new Set([...variables.agent, ...variables.internal]);
  return {
    // The person has started the run here, and in a folder without trust the host starts no MCP server.
    args: [
      ...['--acp', '--skip-trust', '--admin-policy', policy],
      ...(permissions === undefined ? [] : ['--approval-mode', permissions]),
      ...(model === undefined ? [] : ['--model', model]),
    ],
    env: Object.fromEntries(Object.entries(env).filter(([name]) => !own.has(name))),
  };
}

/** Where there is one, the host ignores `--admin-policy`. */
const systemPolicies = [
  '/etc/gemini-cli/policies',
  '/Library/Application Support/GeminiCli/policies',
  'C:\\ProgramData\\gemini-cli\\policies',
];

const hasPolicies = (folder: string): boolean =>
  existsSync(folder) && readdirSync(folder).some((name) => name.endsWith('.toml'));

/** The option about a whole server is there for MCP tools only, and the server's name closes the title. */
function isOwn({ options, toolCall }: Payload): boolean {
  const offers = Array.isArray(options) ? options.filter(isPayload) : [];
  const title = isPayload(toolCall) ? (textIn(toolCall, 'title') ?? '') : '';
  const isMcp = offers.some(({ optionId }) => optionId === 'proceed_always_server');
  return isMcp && /^[a-z_]+ \(stepfast MCP Server\)$/.test(title);
}
