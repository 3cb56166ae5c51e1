/** The real program in a real terminal, and a count of what a person types there. */
import { join } from 'node:path';
import type { ClaudeProject } from '../../src/testing/index.ts';
import { claudeCommand } from './claude.ts';
import { openTerminal, type Size, type Terminal } from './terminal.ts';

const top = join(import.meta.dirname, '..', '..');

export interface PersonAtTerminal {
  terminal: Terminal;
  /** Types a line and presses Enter. */
  enter(text: string): Promise<void>;
  /** The lines that were entered, in order. */
  readonly entered: readonly string[];
}

/** Returns when the commands of the plugin can be typed. */
export async function openClaudeTerminal(
  stage: ClaudeProject,
  size: Size = { columns: 110, rows: 45 },
): Promise<PersonAtTerminal> {
  const command = await claudeCommand({
    cwd: stage.project.root,
    home: stage.home,
    model: stage.model,
    pluginDir: top,
    allow: ['Edit', 'Write', 'Read', 'Bash', 'Skill'],
    env: { XDG_STATE_HOME: join(stage.project.env.HOME ?? '', '.local', 'state') },
  });
  const terminal = await openTerminal({
    directory: stage.home,
    command: [command.program, ...command.args],
    cwd: stage.project.root,
    env: command.env,
    ...size,
  });
  await terminal.waitFor(/❯/);
  const probe = '/stepfast:sta';
  await terminal.type(probe);
  // The menu has it once the plugins are loaded.
  await terminal.waitFor(/\/stepfast:status/);
  for (const _ of probe) await terminal.press('BSpace');
  const entered: string[] = [];
  return {
    terminal,
    entered,
    async enter(text) {
      await terminal.type(text);
      // A line that is longer than the screen is wide is broken.
      const begins = text.slice(0, 60).replaceAll(/\W/g, '\\$&');
      await terminal.waitFor(new RegExp(`❯\\s${begins}`));
      await terminal.press('Enter');
      entered.push(text);
    },
  };
}
