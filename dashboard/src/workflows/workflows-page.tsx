import { useQuery } from '@tanstack/react-query';
import { ChevronRight } from 'lucide-react';
import { type JSX, useEffect } from 'react';
import { Link } from 'wouter';
import { workflowsQuery } from '../api/client.ts';
import type { WorkflowRow } from '../api-types.ts';
import { classNames } from '../ui/class-names.ts';
import { CopyText } from '../ui/copy.tsx';
import { Glyph } from '../ui/glyph.tsx';
import { Main } from '../ui/main.tsx';
import ui from '../ui/ui.module.css';
import css from './workflows.module.css';

const groups: [WorkflowRow['from'] | undefined, string][] = [
  ['project', 'In this project'],
  ['user', 'Yours, in every project'],
  ['bundled', 'Bundled with Stepfast'],
  [undefined, 'Known to this server'],
];

export const workflowHref = (name: string): string => `/workflows/${encodeURIComponent(name)}`;

export default function WorkflowsPage(): JSX.Element {
  const { data, error } = useQuery(workflowsQuery);
  useEffect(() => {
    document.title = 'Workflows · Stepfast';
  }, []);
  const rows = data?.workflows ?? [];
  // A server without files cannot tell whether a project has one.
  const isFirst = data !== undefined && !rows.some(({ from }) => from === 'project' || from === undefined);
  return (
    <Main>
      <div className={css.list}>
        <header>
          <h1>Workflows</h1>
          <p className={css.description}>
            The steps that agents follow, what proves each step, and where people decide. Open one to see its
            steps and to click through a dry run.
          </p>
        </header>
        {error && !data && <p className={ui.empty}>{error.message}</p>}
        {isFirst && <FirstWorkflow />}
        {groups.map(([from, title]) => {
          const found = rows.filter((row) => row.from === from);
          return found.length === 0 ? null : (
            <section key={title} aria-labelledby={`from-${from}`}>
              <h2 id={`from-${from}`} className={css.title}>
                {title} <span className={classNames(ui.muted, ui.num)}>{found.length}</span>
              </h2>
              <ul className={css.rows}>
                {found.map((row) => (
                  <Item key={row.name} row={row} />
                ))}
              </ul>
            </section>
          );
        })}
      </div>
    </Main>
  );
}

const Item = ({ row: { name, description, type, steps, problem, isTrusted } }: { row: WorkflowRow }) => (
  <li className={css.row}>
    <div className={css.name}>
      <Link href={workflowHref(name)}>{name}</Link>
      {type !== 'custom' && <span className={ui.muted}>{type}</span>}
      <span className={ui.grow} />
      {problem === undefined && isTrusted === false && (
        <span className={css.state} data-mark="person">
          <Glyph mark="person" size={13} isQuiet /> Not trusted yet
        </span>
      )}
      {problem !== undefined && (
        <span className={css.state} data-mark="red">
          <Glyph mark="red" size={13} isQuiet /> Cannot be started
        </span>
      )}
      <ChevronRight size={15} aria-hidden="true" className={ui.muted} />
    </div>
    {description && <p className={css.about}>{description}</p>}
    {problem !== undefined && <p className={css.problem}>{problem}</p>}
    {steps.length > 0 && (
      <ol className={css.steps} aria-label="Steps">
        {steps.map((step, index) => (
          <li key={index}>{step}</li>
        ))}
      </ol>
    )}
  </li>
);

const commands: [string, string][] = [
  [
    'stepfast init',
    'Sets up this project and writes a first workflow, go, with your test command as its gate.',
  ],
  [
    'stepfast new story --from feature',
    'Copies a bundled workflow into .stepfast/workflows, for you to change.',
  ],
  ['stepfast validate', 'Checks the workflows of this project.'],
];

const FirstWorkflow = (): JSX.Element => (
  <section className={css.first} aria-labelledby="first">
    <h2 id="first">This project has no workflow of its own yet</h2>
    <p className={ui.soft}>
      The bundled ones below can be started as they are. To write your own, type these in a terminal, in the
      project's folder:
    </p>
    <ul>
      {commands.map(([command, effect]) => (
        <li key={command}>
          <CopyText text={command} />
          <span className={ui.soft}>{effect}</span>
        </li>
      ))}
    </ul>
  </section>
);
