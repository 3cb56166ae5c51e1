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
export { bounded, firstWithin, lastWithin } from './tools/fit-tokens.ts';
export { type Known, needsView, nextCall } from './tools/next-call.ts';
