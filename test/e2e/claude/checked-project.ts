/** A project with `stop: check` workflows, and an agent that calls no Stepfast tool unless a test says so. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hookLogEntries } from '../../../src/hooks/index.ts';
import {
  type ClaudeProject,
  contextOf,
  lastUser,
  type ModelRequest,
  type Reply,
  type StreamEvent,
  toolCall,
} from '../../../src/testing/index.ts';
import { createClaudeProject } from '../../kit/claude.ts';

/** Passes once `total.txt` has 42 in it. */
export const passes = 'grep -q 42 total.txt || { echo not ok 1 - the total is wrong; exit 1; }';

/** `steps` are lines of YAML below `steps:`, and whatever follows them. */
export const workflow = (steps: string, name = 'w'): string =>
  `name: ${name}\ndescription: Does it\nstop: check\nsteps:\n${steps}`;

/** One step with the gate; its instructions have the id in capitals. */
export const step = (id: string, more: string): string =>
  `  - { id: ${id}, type: action, instructions: INSTRUCTIONS-${id.toUpperCase()}, ${more} }\n`;

export const gate = (run: string): string => `gate: [{ run: ${JSON.stringify(run)} }]`;

/** The bundled workflow with the project's own test command, as `init` writes it. */
export const goWith = (run: string): string =>
  `name: go\nextends: go\nsteps:\n  - { id: do, ${gate(run)} }\n`;

/** A slow gate starts with it. It ends when the test says so, so that no test waits for a clock or races with one. */
export const until = 'while [ ! -f ../release ]; do sleep 0.1; done';
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

/** Uses the tool and says the text, at every prompt and after every feedback. */
export function insists({ model }: ClaudeProject, tool: Reply, text: Reply): void {
  let count = 0;
  model.always(lastUser(/./), () => {
    count += 1;
    return count % 2 === 1 ? tool : text;
  });
}

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

/** Why stops were allowed or held, in order. */
export const stopsOf = ({ project }: ClaudeProject): string[] =>
  hookLogEntries({ directory: join(project.root, '.stepfast') }).flatMap((entry) =>
    entry.what === 'allowed' || entry.what === 'held' ? [`${entry.what}: ${entry.why}`] : [],
  );
