import type { JSX } from 'react';
import { CopyText } from '../ui/copy.tsx';
import css from './runs.module.css';

const commands: [string, string][] = [
  ['stepfast init', 'Set up this project and its coding agents.'],
  ['stepfast run feature --summary "what you want"', 'Start a run of the workflow feature.'],
  ['stepfast watch', 'Follow it in the terminal. It also appears here.'],
];

export function EmptyProject({ project }: { project: string }): JSX.Element {
  return (
    <section className={css.fresh} aria-labelledby="fresh">
      <h2 id="fresh">No runs in {project} yet</h2>
      <p>Type these in a terminal, in the project's folder:</p>
      <ol>
        {commands.map(([command, effect]) => (
          <li key={command}>
            <CopyText text={command} />
            <span>{effect}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
