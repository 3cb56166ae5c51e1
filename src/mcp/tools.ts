import type { Tool } from '@modelcontextprotocol/server';
import { noteKinds, sectionNames, verdicts } from '../schema/index.ts';

/** Written by hand and sent to clients as is, so nothing is compiled at start-up. */
export interface ToolSpec {
  name: string;
  description: string;
  inputSchema: ObjectSchema;
  /** Answers text alone; every other tool answers a structure. */
  text?: true;
  annotations: { readOnlyHint: boolean; idempotentHint: boolean };
}

export interface ObjectSchema {
  type: 'object';
  properties?: Record<string, Schema>;
  required?: readonly string[];
}

export type Schema =
  | { type: 'string'; description?: string; enum?: readonly string[] }
  | { type: 'boolean'; description?: string }
  | { type: 'array'; items: Schema; description?: string }
  | (ObjectSchema & { description?: string });

const string = { type: 'string' } as const;
const said = (description: string) => ({ type: 'string', description }) as const;
const list = { type: 'array', items: string } as const;
const at = string;
const reads = { readOnlyHint: true, idempotentHint: true };
const writes = { readOnlyHint: false, idempotentHint: true };

/** The order never changes: clients cache the list. */
export const tools: readonly ToolSpec[] = [
  {
    name: 'workflow_start',
    description:
      'Start a workflow run, or restore the one under way. Without a name: `go`, or that of --workflow-path.',
    inputSchema: {
      type: 'object',
      properties: {
        workflow: said('name or file'),
        summary: said('the work in ten words'),
        inputs: { type: 'object' },
        run_id: said('go on with this run'),
        new: { type: 'boolean', description: 'beside the one under way' },
      },
    },
    annotations: writes,
  },
  {
    name: 'workflow_status',
    description:
      'Where the run stands and what to do now. Pass `at`, the handle of your last answer, wherever a tool takes it.',
    inputSchema: { type: 'object', properties: { at } },
    // True enough: it touches no file and no work. It records that the caller was told, which may end a context action
    // that is only preferred. Hosts call what reads without asking, and an agent that had to ask would rather guess.
    annotations: reads,
  },
  {
    name: 'workflow_advance',
    description:
      'Report the position done; its gates run first. While the answer says checking, send the same call again.',
    inputSchema: {
      type: 'object',
      properties: {
        output: said('what was done; with failed, why not; with verdict, the feedback'),
        at,
        failed: { type: 'boolean' },
        verdict: { type: 'string', enum: verdicts, description: "only as the step's reviewer; needs at" },
      },
    },
    annotations: writes,
  },
  {
    name: 'workflow_set_tasks',
    description:
      'Give a loop its tasks; again: the whole list, those not started may change. Leaving one out is refused.',
    inputSchema: {
      type: 'object',
      properties: {
        loop_id: said("the loop's or the step's id"),
        tasks: {
          type: 'array',
          items: {
            type: 'object',
            properties: { id: string, title: string, description: string, depends_on: list },
            required: ['id', 'title'],
          },
        },
      },
      required: ['loop_id', 'tasks'],
    },
    annotations: writes,
  },
  {
    name: 'workflow_claim',
    description: 'Take a task of a parallel loop; answers its handle and worktree.',
    inputSchema: {
      type: 'object',
      properties: { run_id: string, task: said('any ready one if absent') },
      required: ['run_id'],
    },
    annotations: { ...writes, idempotentHint: false },
  },
  {
    name: 'workflow_context',
    description: 'All that must be known about the run, for instance after a compaction; or one section.',
    inputSchema: {
      type: 'object',
      properties: {
        at,
        section: { type: 'string', enum: sectionNames },
        artifacts: { ...list, description: 'ids to load' },
        force: { type: 'boolean' },
      },
    },
    text: true,
    annotations: reads,
  },
  {
    name: 'workflow_note',
    description:
      'Keep words that outlive the conversation, 400 characters at most; a key replaces. `question` makes the run wait for a person.',
    inputSchema: {
      type: 'object',
      properties: {
        kind: { type: 'string', enum: [...noteKinds, 'question'] },
        text: string,
        key: string,
        at,
      },
      required: ['kind', 'text'],
    },
    annotations: { ...writes, idempotentHint: false },
  },
  {
    name: 'update_todo_list',
    description: 'Replace the whole to-do list of the run.',
    inputSchema: { type: 'object', properties: { content: said('Markdown'), at }, required: ['content'] },
    annotations: writes,
  },
];

/** No key is required: a refusal has to conform as well, since some clients check it even beside `isError`. */
const answerSchema = {
  type: 'object' as const,
  properties: {
    at: string,
    run: string,
    status: string,
    step: string,
    instructions: string,
    contextAction: string,
    message: string,
    next: string,
    code: string,
  },
};
const doneSchema = {
  type: 'object' as const,
  properties: {
    ok: { type: 'boolean' },
    id: string,
    code: string,
    message: string,
    next: string,
    at: string,
  },
};

/** The list as it goes over the wire. */
export const listedTools = (): Tool[] =>
  tools.map(({ name, description, inputSchema, text, annotations }) => ({
    name,
    description,
    // The SDK's type wants lists that can be written to; nothing writes to them.
    inputSchema: inputSchema as unknown as Tool['inputSchema'],
    ...(text ? {} : { outputSchema: isRecordKeeping(name) ? doneSchema : answerSchema }),
    annotations: { ...annotations, destructiveHint: false, openWorldHint: false },
  }));

const isRecordKeeping = (name: string): boolean => name === 'workflow_note' || name === 'update_todo_list';
