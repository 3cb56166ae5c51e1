import { work } from './commands/act.ts';
import type { Command } from './commands/command.ts';
import { decide } from './commands/decide.ts';
import { drive } from './commands/drive.ts';
import { look } from './commands/look.ts';
import { move } from './commands/move.ts';
import { remote } from './commands/remote.ts';
import { serve } from './commands/serve.ts';
import { setUp } from './commands/setup.ts';
import { workflows } from './commands/workflows.ts';

export { type Command, groups } from './commands/command.ts';

export const commands: readonly Command[] = [
  ...work,
  ...drive,
  ...decide,
  ...look,
  ...workflows,
  ...setUp,
  ...remote,
  ...move,
  ...serve,
];

/** Without the internal ones. */
export const shownCommands: readonly Command[] = commands.filter(({ hidden }) => !hidden);
