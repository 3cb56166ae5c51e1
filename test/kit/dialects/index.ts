import { claudeDialect } from './claude-code.ts';
import { codexDialect } from './codex.ts';
import { copilotDialect } from './copilot.ts';
import type { HostDialect } from './dialect.ts';
import { geminiDialect } from './gemini.ts';
import { openCodeDialect } from './opencode.ts';
import { templateDialect } from './template.ts';

export type { HostDialect } from './dialect.ts';

/** The hosts that the contract suite of hooks runs over. */
export const hostDialects: readonly HostDialect[] = [
  claudeDialect,
  codexDialect,
  openCodeDialect,
  copilotDialect,
  geminiDialect,
  templateDialect,
];
