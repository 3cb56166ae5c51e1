import type { Adopted, CommandOf, Definition } from '../schema/index.ts';
import type { Batch } from './batch.ts';
import { type Refusal, type RefusalParams, refuse } from './refusal.ts';
import type { State } from './state.ts';

/** The one-step workflow of an adopted run. The description of the work is in the state. */
export function adoptedDefinition(
  name: string,
  { source }: Adopted,
  type: NonNullable<Definition['type']> = 'custom',
): Definition {
  return {
    name: slug(name),
    description: `Adopted from ${source}`,
    type,
    steps: [{ id: 'work', type: 'action' }],
  };
}

/** The instructions of an adopted run, from the last read of its source. */
export function adoptedInstructions({ phase, text, source }: Adopted): string {
  const where = phase && `Phase ${phase.current}/${phase.total}: ${phase.name}.`;
  const goal = `Continue the workflow that ${source} describes.`;
  const keep = isUnderWay(phase)
    ? ' When a phase is done, write the next phase into that file: the run follows it.'
    : '';
  return [where, text, goal + keep].filter((part) => part).join('\n\n');
}

const isUnderWay = (phase: Adopted['phase']): boolean => phase !== undefined && phase.current < phase.total;

/** An adopted run cannot complete before the last phase of its source. */
export function unfinishedSource({ adopted }: State): RefusalParams['unfinished'] | undefined {
  if (!adopted?.phase || !isUnderWay(adopted.phase)) return undefined;
  const { source, phase } = adopted;
  return { source, phase: phase.current, phases: phase.total };
}

/** Updates an adopted run from its source; no event if nothing changed. */
export function adopt(batch: Batch, { adopted }: CommandOf<'adopt'>): Refusal | undefined {
  const known = batch.state.adopted;
  if (!known) return refuse('not_adopted', { run: batch.state.run });
  if (JSON.stringify(known) !== JSON.stringify(adopted)) batch.emit('run.adopted', { adopted });
  return undefined;
}

/** Files that an agent must read, without duplicates, each with `@`: from the workflow, the source and the notes. */
export function requiredReading(definition: Definition, { adopted, notes }: State): string[] {
  const noted = notes.filter(({ kind, text }) => kind === 'reading' && text.startsWith('@'));
  const paths = [
    ...(definition.required_reading ?? []),
    ...(adopted?.reading ?? []),
    ...noted.map(({ text }) => text),
  ];
  return [...new Set(paths.map((path) => (path.startsWith('@') ? path : `@${path}`)))];
}

/** Rules for every briefing, without duplicates. */
export function keyReminders(definition: Definition, { adopted, notes }: State): string[] {
  const noted = notes.filter(({ kind }) => kind === 'reminder').map(({ text }) => text);
  return [...new Set([...(definition.key_reminders ?? []), ...(adopted?.reminders ?? []), ...noted])];
}

/** The variables of the source, and those noted since, which win. */
export function ownVariables({ adopted, variables }: State): State['variables'] {
  const said = (adopted?.variables ?? []).map(({ name, value }) => [name, value] as const);
  return { ...Object.fromEntries(said), ...variables };
}

/** Lower case letters, digits and hyphens, for directory names and run ids. */
export function slug(name: string): string {
  const text = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60);
  return text === '' ? 'workflow' : text;
}
