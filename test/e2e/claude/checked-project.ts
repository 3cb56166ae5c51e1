/** A project with `stop: check` workflows, and an agent that calls no Stepfast tool unless a test says so. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ClaudeProject,
  contextOf,
  type ModelRequest,
  type Reply,
  type StreamEvent,
  toolCall,
} from '../../../src/testing/index.ts';
import { gate } from '../../kit/checked-workflow.ts';
import { createClaudeProject } from '../../kit/claude.ts';

/** The bundled workflow with the project's own test command, as `init` writes it. */
export const goWith = (run: string): string =>
  `name: go\nextends: go\nsteps:\n  - { id: do, ${gate(run)} }\n`;

/** Ends what `until` waits for. */
export const release = ({ project }: ClaudeProject): void =>
  writeFileSync(join(project.root, '..', 'release'), '');

/** What a person types to start `w`. */
export const typed = '/stepfast:start w make it 42';

/** The files that are workflows are trusted. */
export async function createCheckedProject(files: Record<string, string>): Promise<ClaudeProject> {
  const stage = await createClaudeProject({ 'total.txt': '41\n', ...files });
  for (const file of Object.keys(files)) {
    const [, name] = /^\.stepfast\/workflows\/(.+)\.yaml$/.exec(file) ?? [];
    if (name !== undefined) stage.project.trust(name);
  }
  return stage;
}

export const edit = (content: string): Reply => toolCall.bash(`echo ${content} > total.txt`);

/** The agent has this in its context. */
export const told =
  (text: RegExp) =>
  (request: ModelRequest): boolean =>
    request.kind === 'main' && text.test(contextOf(request));

/** What the host showed the person, without what the agent said. */
export const shownIn = (events: readonly StreamEvent[]): string =>
  events
    .flatMap((event) =>
      event.subtype === 'informational' && 'content' in event ? [String(event.content)] : [],
    )
    .join('\n');

export const stateOf = async ({ project }: ClaudeProject) => await (await project.onlyRun()).state();

/** The verdicts of the project's checks, in order. */
export const verdictsOf = async ({ project }: ClaudeProject): Promise<boolean[]> =>
  (await (await project.onlyRun()).events('gates.finished')).map(({ pass }) => pass);
