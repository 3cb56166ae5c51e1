/**
 * Seed 002, PreCompact: where CLAUDE.local.md tells of a workflow, its state file is updated or created. What the
 * markers do not tell (context, reminders) stays as the agent wrote it. Never blocks.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readState, type SeedState, sanitised, stateFiles, stateFolder, writeState } from './state-file.ts';

const { cwd }: { cwd: string } = JSON.parse(readFileSync(0, 'utf8'));
const found = detected(cwd);
if (found) {
  const name = sanitised(found.workflow);
  const known = stateFiles(cwd).find((file) => file.includes(`/${name}/`));
  const time = new Date().toISOString();
  const stamp = time.slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '_');
  if (known) writeState(known, { ...readState(known), ...found });
  else
    writeState(join(cwd, stateFolder, name, `state-${name}-${stamp}.json`), {
      workflow_type: 'custom',
      context: {},
      key_reminders: [],
      created_at: time,
      ...found,
    });
}

function detected(directory: string): Pick<SeedState, 'workflow' | 'phase' | 'required_reading'> | undefined {
  const file = join(directory, 'CLAUDE.local.md');
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8');
  const workflow = /^workflow: *(.+)$/im.exec(text)?.[1];
  const phase = /^phase: *(\d+)\/(\d+) *- *(.+)$/im.exec(text);
  if (!/workflow state/i.test(text) || workflow === undefined || !phase) return undefined;
  const [, current, total, name = ''] = phase;
  return {
    workflow,
    phase: { current: Number(current), total: Number(total), name, status: 'in_progress' },
    required_reading: text.match(/^@\S+$/gm) ?? [],
  };
}
