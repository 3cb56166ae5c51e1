/**
 * `npm run record`: the real Claude Code in a real terminal, with the plugin and a scripted model, and `stepfast run`. Each
 * situation is drawn into docs/screens. Needs tmux. Names of situations select some of them.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt } from '../../scripts/ensure-built.ts';
import { createClaudeProject } from '../../test/kit/claude.ts';
import { openClaudeTerminal, type PersonAtTerminal } from '../../test/kit/claude-terminal.ts';
import { overnightSize, playOvernight } from './overnight.ts';
import { files, type Scene, scenes } from './scenes.ts';
import { type Panel, screensSvg } from './screen-svg.ts';

const size = { columns: 100, rows: 60 };
const folder = join(import.meta.dirname, '..', '..', 'docs', 'screens');

ensureBuilt();
mkdirSync(folder, { recursive: true });
const wanted = process.argv.slice(2);
const plays: Record<string, () => Promise<Panel[]>> = {
  ...Object.fromEntries(Object.entries(scenes).map(([name, scene]) => [name, () => play(scene)])),
  overnight: playOvernight,
};
for (const [name, panels] of Object.entries(plays)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  writeFileSync(
    join(folder, `${name}.svg`),
    screensSvg(await panels(), name === 'overnight' ? overnightSize.columns : size.columns),
  );
  console.log(`docs/screens/${name}.svg`);
}

async function play(scene: Scene): Promise<Panel[]> {
  const stage = await createClaudeProject(files);
  for (const name of ['go', 'two', 'slow']) stage.project.trust(name);
  let person: PersonAtTerminal | undefined;
  try {
    scene.agent(stage.model, (name) => join(stage.project.root, name));
    person = await openClaudeTerminal(stage, size);
    const panels: Panel[] = [];
    for (const { types, until, reopens, shown, from } of scene.person) {
      if (reopens) {
        await leave(person);
        person = await openClaudeTerminal(stage, size);
      }
      if (types !== undefined) await person.enter(await filledIn(types, person));
      await person.terminal.waitFor(until);
      if (shown === undefined) continue;
      // The host writes its last lines a moment later.
      await new Promise((resolve) => setTimeout(resolve, 1000));
      panels.push({ title: shown, screen: tidy(await person.terminal.screen(), stage.project.root, from) });
    }
    return panels;
  } finally {
    await person?.terminal.close();
    await stage[Symbol.asyncDispose]();
  }
}

/** The terminal ends with its program. */
async function leave({ terminal, enter }: PersonAtTerminal): Promise<void> {
  await enter('/exit');
  const gone = async (): Promise<boolean> =>
    await terminal.screen().then(
      () => false,
      () => true,
    );
  while (!(await gone())) await new Promise((resolve) => setTimeout(resolve, 100));
}

/** `CODE` is the code on the screen. */
async function filledIn(types: string, { terminal }: PersonAtTerminal): Promise<string> {
  const [, code = ''] = /stepfast:approve ([0-9a-f]{4})/.exec(await terminal.screen()) ?? [];
  return types.replace('CODE', code);
}

/** From the first prompt on, without the emptiness before the last one, and with a place that a reader may have. */
function tidy(screen: string, root: string, from?: RegExp): string {
  const lines = screen.replaceAll(root, '~/shop').split('\n');
  const first = from
    ? lines.findLastIndex((line) => from.test(line))
    : lines.findIndex((line) => /❯|SessionStart:/.test(line));
  return lines
    .slice(first)
    .join('\n')
    .replaceAll(/\n(?:[ \t]*\n){2,}/g, '\n\n');
}
