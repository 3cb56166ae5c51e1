/** Stepfast as installed by a user: the plugin, and an agent that calls its tools. */
import { type Answer, type ModelRequest, reply } from '../../src/testing/index.ts';
import type { SessionHost } from '../../test/kit/host-stage.ts';
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

export function createStepfast(host: SessionHost): Mechanism {
  let at = '';
  /** How the host names a tool of Stepfast. */
  const nameOf = (tool: string): string => host.own(tool, {}).content[0]?.name ?? tool;
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
    installed: true,
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
  };
}

const isLasting = (kind: string): boolean => ['decision', 'rejection', 'correction'].includes(kind);

const noteOf = ({ kind, id, text }: StoryFact) => ({ kind, key: id.slice(id.indexOf(':') + 1), text });

/** The latest tool results. Throws if Stepfast refused. */
function lastAnswer({ body }: ModelRequest): string {
  const results = body.messages.map(({ content }) =>
    typeof content === 'string' ? [] : content.filter(({ type }) => type === 'tool_result'),
  );
  const text = (results.findLast((blocks) => blocks.length > 0) ?? [])
    .map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)))
    .join('\n')
    .replaceAll('\\"', '"');
  const refused = /"code":"[^"]+"[^}]*/.exec(text);
  if (refused) throw new Error(`Stepfast refused: ${refused[0]}`);
  return text;
}
