import { type Command, projectOptions } from './command.ts';

const group = 'Set up';

export const remote: readonly Command[] = [
  {
    name: 'login',
    group,
    summary: 'Connect this project to a team server',
    usage: 'stepfast login <url> [--token-stdin]',
    about:
      'Prompts for a token or an invitation, verifies it, and stores it for you and this project, outside the repository. With an invitation you choose a passphrase, and what is stored is a token for your agents; when you decide something, you are asked for the passphrase. From then on, new runs start on the server and existing local runs stay local. Commands, hooks and tools use the server; gates still run on this machine. STEPFAST_URL and STEPFAST_TOKEN override the login for one process.',
    options: [
      ['--token-stdin', 'Read the token from stdin; an invitation needs a terminal'],
      ...projectOptions,
    ],
    examples: [
      'stepfast login https://stepfast.example.com',
      'stepfast login https://stepfast.example.com --token-stdin < token.txt',
    ],
    load: () => import('../serve/login.ts'),
  },
  {
    name: 'logout',
    group,
    summary: 'Disconnect this project from the team server',
    usage: 'stepfast logout',
    about:
      'Removes the token that login stored. New runs are stored locally; runs on the server stay there. The token stays valid until it is revoked.',
    options: [...projectOptions],
    examples: ['stepfast logout'],
    load: () => import('../serve/logout.ts'),
  },
];
