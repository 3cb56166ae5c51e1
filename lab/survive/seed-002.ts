/**
 * Seed 002's own mechanism with an agent that does all that the seed asks for, and puts whatever has a place in the
 * format there. The seed asks for the file at the start and at each transition; this agent writes it after each decision
 * too: what the file has already and what stands in its context then.
 */
import { join } from 'node:path';
import { type Answer, contextOf, type ModelRequest, reply } from '../../src/testing/index.ts';
import { type StoryFact, stands } from './fact.ts';
import type { Mechanism } from './mechanism.ts';
import { type SeedState, sanitised, stateFolder } from './seed-002/state-file.ts';
import type { Position, Story } from './story.ts';

const workflow = 'Invoices';
const createdAt = '2026-11-14T09:00:00.000Z';
const name = sanitised(workflow);
const file = `${stateFolder}/${name}/state-${name}-20261114_090000.json`;

export function createSeed002(): Mechanism {
  const hook = (script: string, matcher?: string) => [
    {
      ...(matcher === undefined ? {} : { matcher }),
      hooks: [
        { type: 'command', command: `node '${join(import.meta.dirname, 'seed-002', script)}'`, timeout: 15 },
      ],
    },
  ];
  /** The words of each fact as the file has them. */
  const inFile = new Map<string, string>();

  const written = (story: Story, to: Position): Answer => {
    return (request: ModelRequest) => {
      const context = contextOf(request);
      for (const fact of story.facts().filter(hasPlace))
        if (stands(fact, context)) inFile.set(fact.id, fact.text);
      const command = [
        heredoc(file, stateOf(story, to, inFile)),
        heredoc('CLAUDE.local.md', markers(story, to)),
      ];
      return reply.tool('Bash', {
        command: [`mkdir -p ${stateFolder}/${name}`, ...command].join('\n'),
        description: 'Write the state file',
      });
    };
  };

  const hooks = { PreCompact: hook('pre-compact.ts'), SessionStart: hook('session-start.ts', 'compact') };
  const permissions = { allow: ['Bash', 'Read', 'Write', 'Edit'] };
  return {
    installed: false,
    files: { '.claude/settings.json': JSON.stringify({ permissions, hooks }) },
    begins: (story) => [written(story, story.position())],
    decided: (_decision, story) => [written(story, story.position())],
    advances: (to, story) => [written(story, to)],
    handle: () => '',
  };
}

/** The phase and the reading have fields of their own; what was read has no place in the format. */
const hasPlace = ({ kind }: StoryFact): boolean =>
  !['position', 'next action', 'required reading', 'reading state'].includes(kind);

function stateOf(story: Story, to: Position, inFile: ReadonlyMap<string, string>): string {
  const known = story.facts().flatMap(({ id, kind }) => {
    const text = inFile.get(id);
    return text === undefined ? [] : [{ id, kind, text }];
  });
  const isValue = (kind: string): boolean => kind === 'variable' || kind === 'command';
  const nameOf = (id: string): string => id.slice(id.indexOf(':') + 1);
  const state: SeedState = {
    workflow,
    workflow_type: 'implementation',
    phase: { ...to.phase, status: 'in_progress' },
    required_reading: readingOf(story),
    context: Object.fromEntries([
      ...known
        .filter(({ kind }) => isValue(kind))
        .map(({ id, kind, text }) => [
          nameOf(id),
          kind === 'variable' ? text.slice(nameOf(id).length + 2) : text,
        ]),
      ['next_action', to.next],
    ]),
    key_reminders: known.filter(({ kind }) => !isValue(kind)).map(({ text }) => text),
    created_at: createdAt,
  };
  return JSON.stringify(state, null, 2);
}

const readingOf = (story: Story): string[] =>
  story
    .facts()
    .filter(({ kind }) => kind === 'required reading')
    .map(({ text }) => text);

const markers = (story: Story, { phase }: Position): string =>
  [
    '# Current Workflow State\n',
    `Workflow: ${workflow}`,
    `Phase: ${phase.current}/${phase.total} - ${phase.name}\n`,
    ...readingOf(story),
  ].join('\n');

const heredoc = (path: string, text: string): string => `cat > ${path} <<'END'\n${text}\nEND`;
