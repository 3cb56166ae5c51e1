import type { Artifact } from '../../context/index.ts';
import { type Definition, type State, statusOf } from '../../machine/index.ts';
import { ago, count } from '../../messages/index.ts';
import type { Difference } from '../../runtime/index.ts';
import type { Io } from '../io.ts';
import { renderLine, type Span } from '../paint.ts';
import { symbolsFor } from '../view/symbols.ts';

export interface Reloaded {
  what: 'reloaded' | 'restored';
  view: { run: string; definition: Definition; state: State };
  artifacts: readonly Artifact[];
  /** Ids of the artifacts that the briefing includes in full. */
  inlined: readonly string[];
  differences: readonly Difference[];
}

/** One line for each part of the context: loaded, listed only or missing. */
export function reloadedLines({ what, view, artifacts, inlined, differences }: Reloaded, io: Io): string[] {
  const { definition, state } = view;
  const symbols = symbolsFor(io);
  const { phase } = statusOf(definition, state);
  const good = (name: string, about: string): Span[] => [
    ['green', `  ${symbols.done} `],
    name.padEnd(width),
    ['dim', about],
  ];
  const width = Math.min(24, Math.max(15, ...artifacts.map(({ id }) => id.length))) + 2;
  const lines: Span[][] = [
    [
      ['green', `${symbols.done} Context ${what}: `],
      ['bold', view.run],
    ],
    good('State', `phase ${phase.current}/${phase.total} ${phase.name}, ${state.status}`),
    good('Workflow', `${definition.name}${state.hash === undefined ? '' : `, ${state.hash.slice(0, 19)}`}`),
    ...artifacts.map((artifact): Span[] => artifactLine(artifact, inlined.includes(artifact.id), width, io)),
    good('Session history', historyOf(state)),
    ...differences.map(({ what: said }): Span[] => [['yellow', `  ! ${said}`]]),
  ];
  return lines.map((line) => renderLine(line, { ...io.stdout, columns: undefined }));
}

function artifactLine(artifact: Artifact, inlined: boolean, width: number, io: Io): Span[] {
  const { id, required, content } = artifact;
  const symbols = symbolsFor(io);
  const line = (look: 'green' | 'yellow' | 'red' | 'dim', sign: string, about: string): Span[] => [
    [look, `  ${sign} `],
    id.padEnd(width),
    ['dim', about],
  ];
  switch (content.state) {
    case 'loaded': {
      const warnings = content.warnings.map((each) => `; ${each}`).join('');
      return inlined
        ? line('green', symbols.done, `${content.source}${warnings}`)
        : line(
            'yellow',
            symbols.open,
            `${content.source}: too large (${sizeOf(content.bytes)}), listed only`,
          );
    }
    case 'kept':
      return line(
        'dim',
        symbols.done,
        `${content.source}: loaded ${ago(content.since, io.now())}; --force loads it again`,
      );
    case 'command':
      return content.done
        ? line('green', symbols.done, `loaded by ${content.command}`)
        : line('yellow', symbols.waits, `the agent runs ${content.command}, then notes it (reading, ${id})`);
    case 'not_needed':
      return line('dim', symbols.open, 'not needed: its condition does not hold');
    default:
      return required
        ? line('red', symbols.bad, `required: ${content.why}`)
        : // For an optional artifact, the advice after the last colon is dropped.
          line('yellow', '!', `${content.why.replace(/: [^:]*$/, '')}; not required`);
  }
}

const sizeOf = (bytes: number): string => (bytes < 1024 ? `${bytes} B` : `${Math.round(bytes / 1024)} KB`);

function historyOf({ sessions }: State): string {
  const history = Object.values(sessions);
  const machines = new Set(history.map(({ environment }) => environment?.hostname ?? 'unknown'));
  return history.length === 0
    ? 'no sessions yet'
    : `${count(history.length, 'session')} (${[...machines].join(', ')})`;
}

export function reloadedJson({ what, view, artifacts, inlined, differences }: Reloaded): object {
  return {
    [what]: artifacts.map(({ id, type, required, content }) => {
      const { text: _, ...rest } = 'text' in content ? content : { ...content, text: '' };
      return { id, type, required, inlined: inlined.includes(id), ...rest };
    }),
    run: view.run,
    sessions: Object.entries(view.state.sessions).map(([session, { environment }]) => ({
      session,
      environment,
    })),
    differences,
  };
}
