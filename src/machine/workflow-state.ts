/** A run in the seeds' own form: what `WorkflowStateMachine` saves and restores. */
export interface WorkflowState {
  status: 'running' | 'complete' | 'failed';
  step: string;
  stepType: 'action' | 'loop' | 'ralph';
  task?: { index: number; id: string; title: string };
  subStep?: string;
  ralphIteration?: number;
  tasks: Record<string, WorkflowTask[]>;
  outputs: Record<string, string>;
  summary?: string;
  artefacts: string[];
  currentStepArtefacts?: boolean;
  contextActionExecuted: boolean;
}

export interface WorkflowTask {
  id: string;
  title: string;
  description?: string;
  depends_on?: string[];
  status: 'pending' | 'in_progress' | 'done' | 'failed';
}
