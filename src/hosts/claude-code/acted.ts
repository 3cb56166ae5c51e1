import { isPayload, type Payload, partIn, textIn } from './payload.ts';
import { stepfastTool } from './tool-use.ts';
import { parseRecord } from './transcript-record.ts';

/** Tools that change nothing outside the conversation. */
const reads = new Set([
  ...['Read', 'Grep', 'Glob', 'LS', 'WebFetch', 'WebSearch', 'ToolSearch', 'AskUserQuestion', 'Skill'],
  ...['TodoWrite', 'TaskCreate', 'TaskUpdate', 'TaskGet', 'TaskList', 'TaskOutput', 'BashOutput'],
  ...['EnterPlanMode', 'ExitPlanMode', 'ListMcpResourcesTool', 'ReadMcpResourceTool'],
]);

/** Records of a turn carry its prompt id, and come after those of the turn before. */
export function acted(transcript: string, turn: string): boolean | undefined {
  const lines = transcript.split('\n');
  let found = false;
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    const record = parseRecord(lines[index] ?? '');
    const prompt = record?.type === 'user' ? textIn(record, 'promptId') : undefined;
    if (prompt === turn) found = true;
    else if (prompt !== undefined) return found ? false : undefined;
    if (record?.type === 'assistant' && toolsIn(record).some(acts)) return true;
  }
  return found ? false : undefined;
}

function toolsIn(record: Payload): Payload[] {
  const content = partIn(record, 'message')?.content;
  return (Array.isArray(content) ? content : []).filter(
    (block): block is Payload => isPayload(block) && block.type === 'tool_use',
  );
}

function acts(call: Payload): boolean {
  const name = textIn(call, 'name') ?? '';
  if (name === 'Bash') return !onlyReads(textIn(partIn(call, 'input'), 'command') ?? '');
  return !reads.has(name) && !stepfastTool.test(name);
}

const readCommands = new Set(
  'cat head tail ls pwd wc grep egrep rg which file stat du df date tree nl cut sort uniq cd true'.split(' '),
);
const readSubcommands = /^git (?:-C \S+ )?(?:status|log|diff|show|blame|ls-files|rev-parse|describe)\b/;

/** A shell command that plainly only reads. Where it is not plain, it counts as an act. */
export function onlyReads(command: string): boolean {
  const plain = command.replaceAll(/\d?>(?:&\d|\s*\/dev\/null)/g, '');
  if (/[<>`]|\$\(/.test(plain)) return false;
  const parts = plain.split(/&&|\|\||[;|\n]/).map((part) => part.trim());
  return parts.every((part) => {
    const [word = ''] = part.split(/\s+/);
    if (part === '' || readCommands.has(word) || readSubcommands.test(part))
      return !/\s--output\b/.test(part);
    return /^sed -n [^;]*p\b/.test(part) && !/\s-i\b|\bw\s/.test(part);
  });
}
