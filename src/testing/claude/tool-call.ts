import { type MessageReply, type ReplyOptions, reply } from '../model/reply.ts';
import { contextOf, type ModelRequest, toolsOf } from '../model/request.ts';
import type { ClaudeRun } from './run.ts';

const call =
  (
    tool: string,
    input: object | ((request: ModelRequest) => object),
  ): ((request: ModelRequest) => MessageReply) =>
  (request) =>
    reply.tool(toolNamed(tool, request), {
      ...(typeof input === 'function' ? input(request) : input),
    });

/** The prefix of a tool's name depends on the host and on how Stepfast is installed; not all tools are listed. */
function toolNamed(tool: string, request: ModelRequest): string {
  const names = toolsOf(request);
  const listed = names.find((name) => new RegExp(`stepfast[_-]+${tool}$`).test(name));
  const isCodex = names.includes('exec_command');
  return listed ?? `${isCodex ? 'mcp__stepfast' : 'mcp__plugin_stepfast_stepfast'}__${tool}`;
}

/**
 * Calls of tools for a scripted model. A call without a handle takes the last one in the model's context.
 *
 * @example
 * ```ts
 * import { createScriptedModel, lastUser, reply, toolCall } from 'stepfast/testing';
 *
 * await using model = await createScriptedModel();
 * model.on(lastUser(/begin/), toolCall.start('fix'), toolCall.advance('Fixed.'), reply.text('Done.'));
 * ```
 */
export const toolCall = {
  start: (workflow: string, more: object = {}) => call('workflow_start', { workflow, ...more }),
  status: (at?: string) => call('workflow_status', at === undefined ? {} : { at }),
  advance: (output: string, at?: string) =>
    call('workflow_advance', (request) => ({ output, at: at ?? lastHandle(request) })),
  context: (section: string) => call('workflow_context', (request) => ({ section, at: lastHandle(request) })),
  note: (text: string) => call('workflow_note', { kind: 'decision', text }),
  claim: (run: string) => call('workflow_claim', { run_id: run }),
  bash: (command: string, options: ReplyOptions = {}) =>
    reply.tool('Bash', { command, description: 'Run a command' }, options),
  /** Starts a subagent; `AT` in the prompt is replaced by the handle. */
  agent:
    (prompt: string, { background = false, at }: { background?: boolean; at?: string } = {}) =>
    (request: ModelRequest) =>
      reply.tool('Agent', {
        description: 'Help',
        prompt: prompt.replace('AT', at ?? lastHandle(request)),
        subagent_type: 'general-purpose',
        run_in_background: background,
      }),
};

const lastHandle = (request: ModelRequest): string =>
  [...contextOf(request).matchAll(/(?<![\w-])[0-9a-z]{6,16}:[\w./-]+#\d+/g)].at(-1)?.[0] ?? '';

/** The text of the last request of the main conversation. */
export function lastContext({ requests }: Pick<ClaudeRun, 'requests'>): string {
  const last = requests.requestsOf('main').at(-1);
  return last ? contextOf(last) : '';
}

/** The results of the tools that the main conversation called, in order; of one session where it is given. */
export function toolResults({ requests }: Pick<ClaudeRun, 'requests'>, session?: string): string[] {
  const last = requests
    .requestsOf('main')
    .findLast((each) => session === undefined || each.session === session);
  return (last?.body.messages ?? []).flatMap(({ content }) =>
    typeof content === 'string'
      ? []
      : content
          .filter(({ type }) => type === 'tool_result')
          .map((block) => contextOf({ body: { model: '', messages: [{ role: 'user', content: [block] }] } })),
  );
}
