import type { Adopted, CommandOf, Definition } from '../schema/index.ts';
import type { Batch } from './batch.ts';
import { type Refusal, type RefusalParams, refuse } from './refusal.ts';
import type { State } from './state.ts';

/** The one-step workflow that stands for work which was under way without Stepfast; what it is about is in the state. */
export function adoptedDefinition(name: string, { source }: Adopted): Definition {
  return {
    name: slug(name),
    description: `Adopted from ${source}`,
    type: 'custom',
    steps: [{ id: 'work', type: 'action' }],
  };
}

/** What its source said when it was last looked at. */
export function adoptedInstructions({ phase, text, source }: Adopted): string {
  const where = phase && `Phase ${phase.current}/${phase.total}: ${phase.name}.`;
  const goOn = `Go on with the workflow that ${source} describes.`;
  const keep = isUnderWay(phase)
    ? ' When a phase is done, write the next one there: the run follows it.'
    : '';
  return [where, text, goOn + keep].filter((part) => part).join('\n\n');
}

/** Before its last phase. */
const isUnderWay = (phase: Adopted['phase']): boolean => phase !== undefined && phase.current < phase.total;

/** A run that was adopted ends with the last phase of its source, not before. */
export function unfinishedSource({ adopted }: State): RefusalParams['unfinished'] | undefined {
  if (!adopted?.phase || !isUnderWay(adopted.phase)) return undefined;
  const { source, phase } = adopted;
  return { source, phase: phase.current, phases: phase.total };
}

/** A second look at the source: changes what is known of it, or nothing. */
export function adopt(batch: Batch, { adopted }: CommandOf<'adopt'>): Refusal | undefined {
  const known = batch.state.adopted;
  if (!known) return refuse('not_adopted', { run: batch.state.run });
  if (JSON.stringify(known) !== JSON.stringify(adopted)) batch.emit('run.adopted', { adopted });
  return undefined;
}

/** Files that an agent must read, each with `@` and once: the workflow's, the source's, and those noted since. */
export function requiredReading(definition: Definition, { adopted, notes }: State): string[] {
  const noted = notes.filter(({ kind, text }) => kind === 'reading' && text.startsWith('@'));
  const paths = [
    ...(definition.required_reading ?? []),
    ...(adopted?.reading ?? []),
    ...noted.map(({ text }) => text),
  ];
  return [...new Set(paths.map((path) => (path.startsWith('@') ? path : `@${path}`)))];
}

/** Lower case and hyphens, as directory and run names need it. */
export function slug(name: string): string {
  const text = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60);
  return text === '' ? 'workflow' : text;
}
