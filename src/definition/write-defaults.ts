import { attemptsOf, type Definition, type Step, type SubStep } from '../machine/index.ts';

/**
 * Defaults are written into the definition that a run pins, so that a run that has begun keeps the rules of its time: in a
 * pinned definition an absent key has the meaning that it had before the key was there.
 */
export function stepDefaults(step: Step): Step {
  const { type, until } = step;
  return {
    ...withRetry(step),
    ...(step.tasks && { tasks: { ...step.tasks, min: step.tasks.min ?? 1 } }),
    ...(type === 'ralph' ? { n: step.n ?? 1 } : {}),
    ...(type === 'ralph' && until ? { on_exhausted: step.on_exhausted ?? 'wait' } : {}),
  };
}

export const subStepDefaults = (subStep: SubStep): SubStep => withRetry(subStep);

/** `on_fail: retry` with `attempts` counts once what fails, whether gates or the agent say so. */
function withRetry<S extends Step | SubStep>(step: S): S {
  if (step.on_fail !== 'retry') return step;
  const { attempts: _, ...rest } = step;
  // Without `attempts`, which is optional, it is still a step.
  return { ...rest, on_fail: { retry: attemptsOf(step), then: 'wait' } } as S;
}

type Artifacts = NonNullable<Definition['critical_artifacts']>;

export function artifactDefaults(artifacts: Artifacts): Artifacts {
  return Object.fromEntries(
    Object.entries(artifacts).map(([key, list]) => [
      key,
      list.map((artifact) =>
        artifact.required && artifact.condition !== undefined
          ? { ...artifact, on_error: artifact.on_error ?? 'wait' }
          : artifact,
      ),
    ]),
  );
}
