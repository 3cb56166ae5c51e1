/** The workflow of the runs whose drivers are killed, and an agent that answers by what it was last asked alone. */
import {
  contextOf,
  mainTurn,
  type Reply,
  reply,
  type ScriptedModel,
  toolCall,
} from '../../src/testing/index.ts';
import { allowedTools } from '../kit/hostile-driver.ts';

export const tasks = ['t1', 't2', 't3', 't4'];
export const steps = ['build', 'first', 'second', 'last'];

/** Commands count their starts in files of the home directory. */
const counted = (name: string, then: string): string =>
  JSON.stringify(`echo ${name} >> "$HOME/${name}"; sleep 0.4; ${then}`);
const gate = (file: string): string => `[{ run: ${counted('gates', `test -f ${file}`)} }]`;
const action = (id: string, more = ''): string =>
  `  - { id: ${id}, type: action, instructions: MAKE-${id}-END${more}, gate: ${gate(`${id}.txt`)} }`;

export const killedFiles = {
  ...allowedTools,
  'tasks.json': JSON.stringify(tasks.map((id) => ({ id, title: `Make ${id}` }))),
  '.stepfast/workflows/w.yaml': `name: w
description: Everything that a driver does
worktree: { setup: ${counted('setups', 'true')} }
loops:
  each:
    - id: work
      instructions: MAKE-{task.id}-END
      gate: ${gate('build.txt')}
steps:
${action('build')}
  - { id: once, type: run, run: ${counted('once', 'true')} }
  - { id: again, type: run, idempotent: true, run: ${counted('again', 'true')} }
${action('first', ', context: compact')}
${action('second', ', context: compact')}
  - { id: each, type: loop, parallel: 2, tasks: { json: tasks.json }, merge_gate: [{ run: ${counted('merges', 'test -f build.txt')} }] }
${action('last', ', context: clear')}
`,
};

/** Writes the file that it was asked for last, and says so. Half of the tasks are committed, the others are left. */
export function answerAnything(model: ScriptedModel): void {
  model.always(mainTurn(), (request): Reply => {
    const asked = wanted(request.lastUser) ?? wanted(contextOf(request));
    const last = request.body.messages.findLast(({ role }) => role !== 'system')?.content;
    const isAnswered = Array.isArray(last) && last.some(({ type }) => type === 'tool_result');
    if (asked === undefined || isAnswered) return reply.text('Done.');
    const commits = ['t1', 't3'].includes(asked);
    const commit = commits ? ` && git add -A && git commit -qm ${asked} || true` : '';
    return toolCall.bash(`echo ${asked} > ${asked}.txt${commit}`);
  });
}

const wanted = (text: string): string | undefined => [...text.matchAll(/MAKE-(\w+)-END/g)].at(-1)?.[1];
