/** The shape of hooks that Claude Code and Codex share. */
export { ownCall } from './answer.ts';
export { parsePayload } from './parse.ts';
export { hooksFile, type Registration, shimCommand } from './plugin-hooks.ts';
export { type AnswerFormat, answerText, cutTo } from './render.ts';
