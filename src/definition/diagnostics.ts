import { StepfastError } from '../errors.ts';
import { positionOf, type Report, type Suggestion } from './yaml-tree.ts';

export interface Diagnostic {
  severity: 'error' | 'warning';
  /** Stable and machine-readable. */
  code: string;
  file: string;
  /** From 1. */
  line: number;
  /** From 1, in UTF-16 code units. */
  column: number;
  message: string;
  suggestion?: string;
}

const maxDiagnostics = 200;

/** Plain text: `file:line:column error message`, the suggestion indented below. */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  const { file, line, column, severity, message, suggestion } = diagnostic;
  const head = `${file}:${line}:${column} ${severity} ${message}`;
  return suggestion === undefined ? head : `${head}\n  ${suggestion.replaceAll('\n', '\n  ')}`;
}

/**
 * Code `invalid_workflow`; the message is every error as `formatDiagnostic` writes it. A program with checks of its own
 * throws it with a message, as Lanes does.
 *
 * @example
 * ```ts
 * import { loadWorkflowTemplate, WorkflowValidationError } from 'stepfast';
 *
 * try {
 *   loadWorkflowTemplate('./release.yaml');
 * } catch (error) {
 *   if (!(error instanceof WorkflowValidationError)) throw error;
 *   for (const { file, line, message } of error.diagnostics) console.error(`${file}:${line} ${message}`);
 * }
 * ```
 */
export class WorkflowValidationError extends StepfastError {
  override readonly name = 'WorkflowValidationError';
  readonly diagnostics: readonly Diagnostic[];

  constructor(problem: readonly Diagnostic[] | string) {
    const diagnostics = typeof problem === 'string' ? [] : problem;
    const errors = diagnostics.filter((diagnostic) => diagnostic.severity === 'error');
    const message = typeof problem === 'string' ? problem : errors.map(formatDiagnostic).join('\n');
    super('invalid_workflow', message, { data: { diagnostics } });
    this.diagnostics = diagnostics;
  }
}

export interface Collector {
  report: Report;
  /** Sorted by position, the main file first, errors before warnings at one place, repetitions dropped. */
  arranged(mainFile: string): Diagnostic[];
}

interface FoundProblem extends Diagnostic {
  advice: Suggestion;
}

const maxCollected = 5000;
const longestMessage = 600;

export function createCollector(): Collector {
  const found: Record<Diagnostic['severity'], FoundProblem[]> = { error: [], warning: [] };
  return {
    report(severity, code, place, message, advice) {
      if (found[severity].length >= maxCollected) return;
      const shown = message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message;
      found[severity].push({ severity, code, ...positionOf(place), message: shown, advice });
    },
    arranged(mainFile) {
      const sorted = [...found.error, ...found.warning].sort((a, b) => compareLocations(a, b, mainFile));
      const unique = sorted.filter((each, index) => !isSame(each, sorted[index - 1]));
      // A cut must never make an invalid file look valid.
      const shown =
        unique.length > maxDiagnostics && found.error.length > 0
          ? unique.filter((each) => each.severity === 'error')
          : unique;
      return shown.slice(0, maxDiagnostics).map(({ advice, message, ...rest }) => {
        const suggestion = typeof advice === 'function' ? advice() : advice;
        const diagnostic = { ...rest, message: printable(message) };
        return suggestion === undefined ? diagnostic : { ...diagnostic, suggestion: printable(suggestion) };
      });
    },
  };
}

function compareLocations(a: Diagnostic, b: Diagnostic, mainFile: string): number {
  const rank = (file: string): string => (file === mainFile ? '' : file);
  return (
    compare(rank(a.file), rank(b.file)) ||
    a.line - b.line ||
    a.column - b.column ||
    compare(a.severity, b.severity) ||
    compare(a.code, b.code) ||
    compare(a.message, b.message)
  );
}

const isSame = (a: Diagnostic, b: Diagnostic | undefined): boolean =>
  b !== undefined &&
  a.file === b.file &&
  a.line === b.line &&
  a.column === b.column &&
  a.message === b.message;

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** A message repeats words of a stranger's file: nothing in it may steer a terminal. */
const printable = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, '\ufffd');
