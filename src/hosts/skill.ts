/** The one skill of hosts where Stepfast's commands share a name. `command`: as the person types it. */
export const skillText = (command: string): string => `---
name: stepfast
description: Starts, continues and shows runs of Stepfast workflows. Use it when the user types ${command}.
---

The user typed \`${command}\`, a command, and words that belong to it. Stepfast acts on \`go\`, \`start\`, \`resume\` and \`keep\` before you see them: if there is a briefing above ("Briefing b-…"), follow it. Otherwise:

| command | what to do |
| --- | --- |
| \`go TASK\` | \`workflow_start\` with \`workflow: "go"\`, \`summary\`: the task in ten words, \`inputs\`: \`{"task": "the task, word for word"}\` |
| \`start WORKFLOW WORDS\` | \`workflow_start\` with that \`workflow\`, \`summary\` and \`inputs\`. A refusal names the inputs that are missing; what the user's words do not tell is asked, not invented |
| \`resume RUN\` | \`workflow_start\` with \`run_id\`; without a name, \`workflow_status\` finds the only live run. Then \`workflow_context\` with the \`at\` of the answer returns the briefing |
| \`keep WORDS\` | \`workflow_start\` with \`workflow: "keep"\`; notes of the run survive every compaction |
| \`status\` | \`workflow_status\`; tell the user run, step, next action and what waits, in a few lines. Change nothing |
| \`prime\` | \`workflow_context\`; read what it lists as required reading |

Each step ends with \`workflow_advance\`, with what was done and the \`at\` of the last answer, until the status is \`complete\`.

Approvals, answers, cancellations, budgets and trust are decisions of the person, who makes them in a terminal of this project: \`stepfast approve\`, \`reject\`, \`answer\`, \`cancel\`, \`review\`, \`trust\`. Never decide in their place.
`;
