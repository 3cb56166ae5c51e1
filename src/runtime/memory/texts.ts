import type { BriefingSource, SectionName } from '../../context/index.ts';
import type { Engine } from '../../engine/index.ts';
import type { Loaded } from '../../store/index.ts';

const mostOutputs = 20;

/** The whole texts that a section tells; nothing where none is asked for. */
export async function textsFor(
  engine: Engine,
  { run, state }: Loaded,
  section: SectionName | undefined,
): Promise<Pick<BriefingSource, 'todo' | 'outputs'>> {
  if (section === 'todo') return state.todo === undefined ? {} : { todo: await engine.text(run, state.todo) };
  if (section !== 'outputs') return {};
  const newest = Object.entries(state.outputs).sort(([, a], [, b]) => b.now - a.now);
  const texts: [string, string][] = [];
  for (const [key, { text }] of newest.slice(0, mostOutputs)) texts.push([key, await engine.text(run, text)]);
  return { outputs: Object.fromEntries(texts) };
}
