/** Wraps the TypeScript of the documents so that it compiles against this package, one file for each block. */

export type Program = (text: string) => string;

const types = [
  'AgentConfig',
  'LoopStep',
  'StepContextAction',
  'Task',
  'TaskContext',
  'WorkflowState',
  'WorkflowStatusResponse',
  'WorkflowStep',
  'WorkflowTemplate',
];
const values = ['WorkflowStateMachine', 'WorkflowValidationError', 'loadWorkflowTemplateFromString'];

/** Imports the public names that a text uses and does not declare. */
function importsOf(text: string, declared?: string): string {
  const code = text.replaceAll(/'[^'\n]*'|`[^`]*`|\/\*.*?\*\/|\/\/.*?$/gms, '');
  const used = (name: string): boolean => name !== declared && new RegExp(`\\b${name}\\b`).test(code);
  const names = [...types.filter(used).map((name) => `type ${name}`), ...values.filter(used)];
  return names.length === 0 ? '' : `import { ${names.join(', ')} } from 'stepfast';\n`;
}

/** A value of the printed type is one of ours; with `both`, also the other way around. */
export const declares =
  (name: string, both = false): Program =>
  (text) =>
    `${importsOf(text, name)}import type { ${name} as Ours } from 'stepfast';
${text}
type Unknown = Exclude<keyof ${name}, keyof Ours>;
export const known: [Unknown] extends [never] ? true : Unknown = true;
export const taken = (printed: ${name}): Ours => printed;
${both ? `export const given = (ours: Ours): ${name} => ours;\n` : ''}`;

const members: Record<string, string> = {
  state: 'state: WorkflowState',
  template: 'template: WorkflowTemplate',
  getCurrentStep: 'getCurrentStep(): WorkflowStep',
  getCurrentLoopStep: 'getCurrentLoopStep(): LoopStep | undefined',
  getCurrentStepIndex: 'getCurrentStepIndex(): number',
  getCurrentSubStepIndex: 'getCurrentSubStepIndex(): number',
  getCurrentTasks: 'getCurrentTasks(): Task[]',
  getLoopSteps: 'getLoopSteps(step: string): LoopStep[]',
  getOutputKey: 'getOutputKey(): string',
  getStatus: 'getStatus(): WorkflowStatusResponse',
  initializeLoopIteration: 'initializeLoopIteration(): void',
  advanceToNextStep: 'advanceToNextStep(): void',
  advanceWithinLoop: 'advanceWithinLoop(): void',
};

/** Methods of a class that has the members which they use. */
export const isMethod: Program = (text) => {
  const defined = (name: string): boolean => new RegExp(`^(?:private )?${name}\\(`, 'm').test(text);
  const used = Object.entries(members)
    .filter(([name]) => !defined(name) && text.includes(`this.${name}`))
    .map(([, member]) => `  abstract ${member};\n`)
    .join('');
  return `${importsOf(text + used)}abstract class Around {\n${used}}
export abstract class Printed extends Around {\n${text}}\n`;
};

const tools = `declare const worktreePath: string;
declare const tools: {
  saveState(path: string, state: WorkflowState): Promise<void>;
  workflowStatus(machine: WorkflowStateMachine): object;
  workflowAdvance(machine: WorkflowStateMachine, output: string, path: string): Promise<object>;
};
`;

/** Statements of a handler that has the machine at hand. */
export const isHandler: Program = (text) => `${importsOf(tools)}${tools}
export async function handle(machine: WorkflowStateMachine): Promise<object | undefined> {\n${text}return undefined;\n}\n`;

/** A case of the switch over the names of tools. */
export const isCase: Program = (text) => `${importsOf(tools)}${tools}
declare let machine: WorkflowStateMachine | undefined;
declare function initializeMachine(summary?: string): Promise<WorkflowStateMachine>;
export async function handle(name: string, toolArgs?: Record<string, unknown>): Promise<object | undefined> {
switch (name) {\n${text}default: return undefined;\n}\n}\n`;

export const isValidation: Program = (text) => `${importsOf(text)}
export function check(step: { context?: unknown }, stepId: string): void {\n${text}}\n`;

export const isTest: Program = (text) => `${importsOf(text)}import assert from 'node:assert';
declare function suite(name: string, body: () => void): void;
declare function setup(body: () => void): void;
declare function test(name: string, body: () => void): void;
${text}`;

/** The blocks that are compiled, by id. */
export const programs: Record<string, Program> = {
  '000/block-1': declares('StepContextAction', true),
  '000/block-2': declares('WorkflowStep'),
  '000/block-3': declares('LoopStep'),
  '000/block-4': declares('WorkflowState', true),
  '000/block-5': isMethod,
  '000/block-6': isMethod,
  '000/block-7': isHandler,
  '001/block-1': declares('StepContextAction', true),
  '001/block-2': declares('WorkflowStep'),
  '001/block-3': declares('LoopStep'),
  '001/block-4': declares('WorkflowState', true),
  '001/block-5': isMethod,
  '001/block-6': isMethod,
  '001/block-7': isMethod,
  '001/block-8': isMethod,
  '001/block-9': isMethod,
  '001/block-10': isMethod,
  '001/block-11': isCase,
  '001/block-12': isCase,
  '001/block-13': isTest,
  '001/block-14': isValidation,
  '001/block-15': isValidation,
  '001/block-16': isTest,
};
