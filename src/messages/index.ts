export { bounded, firstWithin, lastWithin } from './fit-tokens.ts';
export { listed } from './lists.ts';

export { nextForPerson, noticeForPerson } from './person.ts';
export { refusalText } from './refusals.ts';
export type {
  ArgumentProblem,
  RefusalText,
  Refused,
  RuntimeRefusalParams,
  Voice,
} from './refused.ts';
export {
  gatesRunningText,
  holdReleasedText,
  holdText,
  holdUnfinishedText,
  lastKnownText,
  liveRunText,
  otherSessionText,
  serverDownText,
  severalRunsText,
  stopHeldText,
  stopReleasedText,
  toolDeniedText,
} from './session.ts';
export { asLine, type NextCommands, nextForShell, shellVoice } from './shell.ts';
export { type StatusText, statusText, waitingText } from './status.ts';
export {
  columnsOf,
  count,
  graphemes,
  isInvisible,
  isWide,
  printable,
  printableJson,
  printableLines,
  truncate,
  wrap,
} from './text.ts';
export { ago, duration, lasting } from './time-ago.ts';
export { nextForTools, type ToolCall, toolVoice } from './tools.ts';
