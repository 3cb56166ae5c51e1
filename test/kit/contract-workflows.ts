/** The workflows of the engine's contract. */
import { loadWorkflowTemplateFromString } from '../../src/definition/index.ts';

export const smallDefinition = loadWorkflowTemplateFromString(`
name: small
description: Two steps
steps:
  - { id: plan, type: action, instructions: Plan it. }
  - { id: build, type: action, instructions: "Build {outputs.plan} in {project_root}." }
`);

export const gatedDefinition = loadWorkflowTemplateFromString(`
name: gated
description: A gate
steps:
  - { id: make, type: action, instructions: Make it., gate: [{ exists: done.txt }] }
  - { id: ship, type: action, instructions: Ship it. }
`);

export const budgetedDefinition = loadWorkflowTemplateFromString(`
name: budgeted
description: Budgets
budget: { tokens: 1000 }
steps:
  - { id: make, type: action, instructions: Make it., budget: { turns: 4 } }
`);

export const notifyingDefinition = loadWorkflowTemplateFromString(`
name: notifying
description: Tells the user
notify: [ended]
steps:
  - { id: make, type: action, instructions: Make it. }
`);

export const choosyDefinition = loadWorkflowTemplateFromString(`
name: choosy
description: Takes some values
inputs:
  level: { type: string, enum: [patch, minor], default: minor }
  tries: { type: number, enum: [1, 2] }
  branch: { type: string, pattern: '[a-z]+(-[a-z]+)*' }
steps:
  - { id: make, type: action, instructions: 'Make {input.level}.' }
`);

export const conditionalDefinition = loadWorkflowTemplateFromString(`
name: conditional
description: Some of it, sometimes
inputs: { level: { type: string, default: minor } }
steps:
  - { id: plan, type: action, instructions: Plan it. }
  - { id: design, type: action, instructions: Design it., when: 'inputs.level == "major"' }
  - { id: check, type: action, instructions: Check it., when: 'outputs.plan.contains("risky")' }
  - { id: all, type: loop }
  - { id: end, type: action, instructions: End it., when: 'int(outputs.plan) > 1' }
loops:
  all:
    - { id: test, instructions: Test it., when: 'task.id == "b"' }
    - { id: code, instructions: Code it. }
`);

export const tasksDefinition = loadWorkflowTemplateFromString(`
name: tasks
description: One task for each package
steps:
  - { id: find, type: run, run: npm outdated --json, output: json }
  - { id: all, type: loop, tasks: { output: find.packages, locked: true } }
loops: { all: [{ id: up, instructions: "Upgrade {task.title}." }] }
`);
