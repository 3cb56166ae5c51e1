import type { ReadResourceResult, Resource, ResourceTemplateType } from '@modelcontextprotocol/server';
import { redactQuickly, withoutSecrets } from '../context/index.ts';
import { ended, statusOf } from '../machine/index.ts';
import type { Runtime } from '../runtime/index.ts';
import { contextOf } from './context.ts';
import { offeredWorkflows } from './workflows.ts';

const all = 'stepfast://runs';
const workflows = 'stepfast://workflows';
const mostListed = 50;

export const resourceTemplates: readonly ResourceTemplateType[] = [
  {
    uriTemplate: `${all}/{id}`,
    name: 'run',
    description: 'Status of a run',
    mimeType: 'application/json',
  },
  {
    uriTemplate: `${all}/{id}/briefing`,
    name: 'briefing',
    description: 'Briefing of a run',
    mimeType: 'text/plain',
  },
];

/** The lists of workflows and runs, and each live run. */
export async function listResources(runtime: Runtime): Promise<Resource[]> {
  const live = (await runtime.runs()).filter(({ state }) => state && !ended(state));
  return [
    {
      uri: workflows,
      name: 'workflows',
      description: 'Available workflows with their inputs',
      mimeType: 'application/json',
    },
    {
      uri: all,
      name: 'runs',
      description: runtime.workspace.hasFiles ? 'All runs of this project' : 'The runs of this session',
      mimeType: 'application/json',
    },
    ...live.slice(0, mostListed).map(({ run, state }) => ({
      uri: `${all}/${run}`,
      name: run,
      ...(state?.summary === undefined ? {} : { description: redactQuickly(state.summary) }),
      mimeType: 'application/json',
    })),
  ];
}

/** undefined if there is no such resource. */
export async function readResource(uri: string, runtime: Runtime): Promise<ReadResourceResult | undefined> {
  if (uri === workflows) return json(uri, { workflows: await offeredWorkflows(runtime) });
  if (uri === all) return json(uri, { runs: await runList(runtime) });
  const [, id, briefing] = /^stepfast:\/\/runs\/([^/]+)(\/briefing)?$/.exec(uri) ?? [];
  const view = id === undefined ? undefined : await runtime.loadRun({ run: id });
  if (!view || 'code' in view) return undefined;
  if (briefing !== undefined) {
    const text = await contextOf(runtime, view);
    return typeof text === 'string' ? { contents: [{ uri, mimeType: 'text/plain', text }] } : undefined;
  }
  const { definition, state } = view;
  const [only, second] = Object.values(state.cursors);
  const cursor = second || only?.lease ? undefined : only;
  // Without a caller: the handle of a held task is shown only to its holder.
  const reader = { values: runtime.workspace.values, session: '' };
  return json(uri, statusOf(definition, state, { ...reader, cursor }));
}

async function runList(runtime: Runtime) {
  return (await runtime.runs()).map(({ run, state, problem }) => ({
    run,
    ...(state
      ? { workflow: state.workflow, status: state.status, step: state.step, updated: state.updatedAt }
      : {}),
    ...(state?.summary === undefined ? {} : { summary: state.summary }),
    ...(problem === undefined ? {} : { problem }),
  }));
}

const json = (uri: string, value: unknown): ReadResourceResult => ({
  contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(withoutSecrets(value)) }],
});
