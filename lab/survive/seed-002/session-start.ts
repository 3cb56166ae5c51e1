/** Seed 002, SessionStart with the source compact: one guidance text from the newest state file. */
import { readFileSync } from 'node:fs';
import { readState, stateFiles } from './state-file.ts';

const { cwd }: { cwd: string } = JSON.parse(readFileSync(0, 'utf8'));
const [newest] = stateFiles(cwd);
if (newest !== undefined) {
  const {
    workflow,
    workflow_type: type,
    phase,
    required_reading: reading,
    context,
    ...rest
  } = readState(newest);
  const list = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join('\n');
  const guidance = [
    'WORKFLOW RESTORED AFTER COMPACTION',
    `Workflow: ${workflow} (${type})\nPhase: ${phase.current}/${phase.total} - ${phase.name} (${phase.status})`,
    `REQUIRED READING (read ALL of these now):\n${list(reading)}`,
    `KEY REMINDERS:\n${list(rest.key_reminders)}`,
    `CONTEXT VARIABLES:\n${list(Object.entries(context).map(([key, value]) => `${key}: ${value}`))}`,
    [
      'ACTION REQUIRED:',
      `1. Acknowledge: "✅ Workflow restored: ${workflow}, Phase ${phase.current}/${phase.total}"`,
      '2. Read ALL required files using @ syntax',
      '3. Confirm understanding of the current phase and context',
      '4. Do NOT proceed with assumptions or hallucinated logic',
    ].join('\n'),
  ].join('\n\n');
  console.log(
    JSON.stringify({ hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: guidance } }),
  );
}
