/**
 * A resolved workflow: what a YAML file means after `extends`, as plain JSON. Keys are the file's own
 * (snake_case); absent means default. The schema in `definition/` is checked against these types.
 */
export interface Definition {
  name: string;
  description: string;
  type?: WorkflowType;
  inputs?: Record<string, Input>;
  required_reading?: string[];
  key_reminders?: string[];
  variables?: Record<string, Scalar>;
  briefing?: { budget?: number };
  critical_artifacts?: CriticalArtifacts;
  agents?: Record<string, Agent>;
  loops?: Record<string, SubStep[]>;
  steps: Step[];
  transitions?: Transition[];
  boundaries?: BoundaryPolicy;
  stop?: 'allow' | 'hold';
  keep?: boolean;
  todo_path?: string;
}

export type WorkflowType = 'planning' | 'qa-loop' | 'implementation' | 'custom';
export type BoundaryPolicy = 'prefer' | 'require' | 'off';
export type ContextAction = 'compact' | 'clear';
export type Scalar = string | number | boolean;

export interface Input {
  type?: 'string' | 'number' | 'boolean';
  description?: string;
  required?: boolean;
  default?: Scalar;
}

export interface Agent {
  description: string;
  model?: string;
  tools?: string[];
  /** Tools that the agent may not use. */
  cannot?: string[];
  permissions?: string;
}

/** A main step. `n` and `until` belong to ralph, `loop` and `parallel` to loop. */
export interface Step {
  id: string;
  type: 'action' | 'loop' | 'ralph';
  agent?: string;
  instructions?: string;
  context?: ContextAction;
  artefacts?: boolean;
  read_only?: boolean;
  gate?: Gate[];
  review?: Review;
  budget?: Budget;
  on_fail?: 'retry' | 'abort';
  attempts?: number;
  n?: number;
  until?: Gate[];
  /** Filled in by the loader: the loop that this step goes over. */
  loop?: string;
  parallel?: number;
}

export interface SubStep {
  id: string;
  agent?: string;
  instructions: string;
  context?: ContextAction;
  artefacts?: boolean;
  read_only?: boolean;
  gate?: Gate[];
  on_fail?: 'retry' | 'skip' | 'abort';
  attempts?: number;
}

/** Exactly one of `run`, `exists`, `condition`, `read`. */
export interface Gate {
  run?: string;
  exists?: string;
  condition?: string;
  read?: string[];
  /** What the receipt covers; the whole tree when absent. */
  paths?: string[];
  /** Files that the command may write without voiding the receipt. */
  writes?: string[];
  /** Seconds. */
  timeout?: number;
  /** Runs once more when the run completes. */
  rerun?: boolean;
}

export interface Review {
  /** `human`, or the id of an agent. */
  by: string;
  on_pivot?: string;
}

export interface Budget {
  turns?: number;
  tokens?: number;
  minutes?: number;
  on_pivot?: string;
}

export interface Transition {
  from: string;
  to: string;
  context?: ContextAction;
}

export interface CriticalArtifacts {
  always_load?: CriticalArtifact[];
  conditional_load?: CriticalArtifact[];
}

export interface CriticalArtifact {
  id: string;
  type: 'json' | 'markdown' | 'directory' | 'work_plugin' | 'skill' | 'git_info';
  path?: string;
  path_from_state?: string;
  /** A slash command that the agent is asked to run, never a shell command. */
  command?: string;
  description?: string;
  required?: boolean;
  condition?: string;
  reload_triggers?: string[];
}

export const attemptsOf = (step: { attempts?: number }): number => step.attempts ?? 5;
