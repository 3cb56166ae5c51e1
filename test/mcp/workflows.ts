/** Two steps; the first asks for a fresh context. */
export const plain = `
name: plain
description: Plan and build
required_reading: ['@docs/conventions.md']
key_reminders: [Run the tests]
steps:
  - { id: plan, type: action, context: clear, instructions: 'Write the plan of {summary}.' }
  - { id: build, type: action, instructions: Build it. }
`;

/** Must read a file. */
export const reading = `
name: reading
description: Reads first
steps:
  - { id: do, type: action, instructions: Do it., gate: [{ read: [docs/rules.md] }] }
`;

/** Wants to know something first. */
export const asking = `
name: asking
description: Needs an input
inputs:
  task: { type: string, required: true }
  where: { type: string, enum: [here, there] }
steps:
  - { id: do, type: action, instructions: 'Do {input.task}.' }
`;

/** A loop for one agent after a planning step. */
export const looped = `
name: looped
description: A loop
loops:
  work:
    - { id: implement, instructions: 'Implement {task.title}.', on_fail: skip }
    - { id: verify, context: compact, agent: reviewer, instructions: 'Verify {task.title}.' }
agents:
  reviewer: { description: Reviews }
steps:
  - { id: work, type: loop }
  - { id: ship, type: action, instructions: Ship it. }
`;

/** Several agents, none of whom writes. */
export const parallel = `
name: parallel
description: Readers
loops:
  read:
    - { id: look, read_only: true, instructions: 'Look at {task.title}.' }
    - { id: tell, read_only: true, instructions: 'Tell about {task.title}.' }
steps:
  - { id: read, type: loop, parallel: 2 }
`;

/** Several agents who write: each has a worktree. */
export const writers = `
name: writers
description: Writers
loops:
  write:
    - { id: draft, instructions: 'Draft {task.title}.' }
    - { id: polish, instructions: 'Polish {task.title}.' }
steps:
  - { id: write, type: loop, parallel: 2 }
  - { id: merge, type: action, instructions: Merge. }
`;

export const gated = `
name: gated
description: Gates of every colour
steps:
  - id: make
    type: action
    instructions: Make done.txt.
    gate: [{ exists: done.txt }]
  - id: slow
    type: action
    instructions: Wait.
    gate: [{ run: 'sleep 1; echo one; echo two >&2; test -f slow.txt' }]
`;

export const reviewed = `
name: reviewed
description: An agent reviews
agents:
  critic: { description: Reviews }
steps:
  - { id: write, type: action, instructions: Write it., review: { by: critic } }
  - { id: sign, type: action, instructions: Sign it., review: { by: human } }
`;
