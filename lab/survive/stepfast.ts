/** Stepfast as installed by a user: the plugin, and an agent that calls its tools. */
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Answer, type ModelRequest, reply } from '../../src/testing/index.ts';
import type { StoryFact } from './fact.ts';
import type { Mechanism } from './mechanism.ts';
import {
  commands,
  declared,
  paths,
  reminders,
  variables,
  workflowFile,
  workflowName,
  written,
} from './story.ts';

const top = join(import.meta.dirname, '..', '..');
const parts = ['.claude-plugin', 'hooks', 'skills', 'workflows', 'dist', '.mcp.json', 'package.json'];
const server = 'mcp__plugin_stepfast_stepfast';

/** A copy of a checkout's plugin, so that a concurrent build has no effect. */
export function copyPlugin(directory: string, from = top): string {
  if (!existsSync(join(from, 'dist', 'hook.cjs')))
    throw new Error(`${from} is not built: run 'npm run build' there first`);
  mkdirSync(directory);
  for (const part of parts)
    if (existsSync(join(from, part))) cpSync(join(from, part), join(directory, part), { recursive: true });
  return directory;
}

/** `nameOf`: how the host names a tool of Stepfast. */
export function createStepfast(
  pluginDir: string,
  nameOf: (tool: string) => string = (tool) => `${server}__${tool}`,
): Mechanism {
  let at = '';
  const call = (tool: string, input: Record<string, unknown>): Answer => reply.tool(nameOf(tool), input);
  const notes = (list: readonly Record<string, unknown>[]): Answer =>
    reply.tools(list.map((input) => ({ name: nameOf('workflow_note'), input })));
  /** Makes the call after the previous response. */
  const after = (then: (answer: string) => Answer): Answer => {
    return async (request) => {
      const made = then(lastAnswer(request));
      return typeof made === 'function' ? await made(request) : made;
    };
  };
  const learn = (answer: string): void => {
    at = /"at":"([^"]+)"/.exec(answer)?.[1] ?? at;
  };

  return {
    host: {
      pluginDir,
      allow: ['Bash', 'Read', 'Write', 'Edit', 'Agent', 'Skill', 'ToolSearch', server],
    },
    files: { [`.stepfast/workflows/${workflowName}.yaml`]: workflowFile() },
    begins: (story) => {
      const lasting = story.facts().filter(({ kind }) => isLasting(kind));
      return [
        call('workflow_start', { workflow: workflowName, summary: story.summary }),
        call('workflow_advance', { output: `${story.tasks.length} parts.` }),
        call('workflow_set_tasks', { loop_id: 'build', tasks: story.tasks }),
        after((answer) => {
          learn(answer);
          return notes(lasting.map(noteOf));
        }),
        notes([
          ...reminders.slice(declared).map((text) => ({ kind: 'reminder', text })),
          ...Object.entries(variables)
            .slice(declared)
            .map(([key, text]) => ({ kind: 'variable', key, text })),
          ...Object.entries(commands).map(([key, text]) => ({ kind: 'variable', key, text })),
          ...paths.filter((path) => !written.includes(path)).map((text) => ({ kind: 'artefact', text })),
        ]),
      ];
    },
    decided: (fact) => [notes([noteOf(fact)])],
    advances: ({ report }) => [
      after(() => call('workflow_advance', { at, output: report })),
      after((answer) => {
        learn(answer);
        return call('workflow_status', { at });
      }),
    ],
    handle: () => at,
    fills: () => {
      const made = Array.from({ length: mostNotes }, (_, index) => ({
        kind: 'decision',
        key: `more-${index + 1}`,
        text: `Further decision ${index + 1}: the poster waits for the answer of the ledger before it goes on to the next one.`,
      }));
      let answer = '';
      const heard: Answer = (request) => {
        answer = resultsIn(request);
        return reply.tool('Bash', { command: 'true', description: 'Nothing' });
      };
      return {
        answers: [notes(made), heard],
        accepted: () => {
          const results = answer.split('\n');
          const texts = made
            .filter((_, index) => /"ok":true/.test(results[index] ?? ''))
            .map(({ text }) => text);
          return { texts, refusal: /"message":"([^"]+)"/.exec(answer)?.[1] ?? '' };
        },
      };
    },
  };
}

const isLasting = (kind: string): boolean => ['decision', 'rejection', 'correction'].includes(kind);

const noteOf = ({ kind, id, text }: StoryFact) => ({ kind, key: id.slice(id.indexOf(':') + 1), text });

const mostNotes = 40;

/** Throws if Stepfast refused. */
function lastAnswer(request: ModelRequest): string {
  const text = resultsIn(request);
  const refused = /"code":"[^"]+"[^}]*/.exec(text);
  if (refused) throw new Error(`Stepfast refused: ${refused[0]}`);
  return text;
}

/** The latest tool results, one per line. */
function resultsIn({ body }: ModelRequest): string {
  const results = body.messages.map(({ content }) =>
    typeof content === 'string' ? [] : content.filter(({ type }) => type === 'tool_result'),
  );
  return (results.findLast((blocks) => blocks.length > 0) ?? [])
    .map((block) => (typeof block.content === 'string' ? block.content : JSON.stringify(block.content)))
    .map((text) => text.replaceAll('\\"', '"').replaceAll('\n', ' '))
    .join('\n');
}
