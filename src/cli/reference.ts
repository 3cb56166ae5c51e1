import { type Command, groups, shownCommands } from './commands.ts';

/** The page about the command line, from the table of commands. */
export function referencePage(): string {
  const contents = groups.map((group) => {
    const names = of(group).map(({ name }) => `[${name}](#${name})`);
    return `| ${group} | ${names.join(', ')} |`;
  });
  return `# The command line

\`src/cli/\`. This page is generated from \`src/cli/commands/\`; \`stepfast help <command>\` prints the same text. \`stepfast\` alone shows the run here and the commands of every day, \`stepfast help --all\` all commands.

| | |
| --- | --- |
${contents.join('\n')}

Every command about a run takes \`--json\` and then prints one JSON document, also for a refusal: \`{ code, message, next }\`. Refusals for people read \`no\` and \`next\`.

| exit status | meaning |
| --- | --- |
| 0 | it worked, and the answer is yes |
| 1 | it worked, and the answer is no: a call was refused, a gate is red, a workflow is invalid |
| 2 | the command line is wrong |
| 3 | a workflow, run or file that was named does not exist or cannot be read |
| 4 | no answer yet: the gates are still running; send the same call again |
| 5 | \`verify --run\`: the checkout differs from what the run proved |
| 70 | Stepfast itself failed |

A caller counts as a person if stdin and stdout are a terminal and the environment has none of the variables that agent programs set; every other caller counts as an agent. Decisions (approvals, answers, trust, budgets, rewinds, repairs) are refused to agents, and a person confirms them with \`y\`. This stops a careless agent, not a process that can write the project's files. \`STEPFAST_SESSION\` names the session of an agent that works through a shell.

${groups.map((group) => `## ${group}\n\n${of(group).map(section).join('\n')}`).join('\n')}`;
}

const of = (group: Command['group']): Command[] => shownCommands.filter((command) => command.group === group);

function section({ name, about, usage, options, examples }: Command): string {
  const rows = options.map(
    ([flag, meaning]) => `| \`${flag.replaceAll('|', '\\|')}\` | ${meaning.replaceAll('|', '\\|')} |`,
  );
  const table = rows.length === 0 ? '' : `\n| option | |\n| --- | --- |\n${rows.join('\n')}\n`;
  return `### ${name}

${about}

\`\`\`text
${usage}
\`\`\`
${table}
\`\`\`sh
${examples.join('\n')}
\`\`\`
`;
}
