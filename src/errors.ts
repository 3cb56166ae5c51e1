/**
 * The only error class. `code` is stable and machine-readable; `message` names the object, the problem and the next
 * action.
 *
 * @example
 * ```ts
 * import { loadWorkflowTemplate, StepfastError } from 'stepfast';
 *
 * try {
 *   loadWorkflowTemplate('feature.yaml');
 * } catch (error) {
 *   if (error instanceof StepfastError) console.error(error.code);
 * }
 * ```
 */
export class StepfastError extends Error {
  override readonly name: string = 'StepfastError';
  readonly code: string;
  readonly data: unknown;

  constructor(code: string, message: string, options: { data?: unknown; cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.data = options.data;
  }
}
