import { type Command, placeOptions } from './command.ts';

const group = 'Set up';

/** What a checkout needs to work with a team's server. */
export const remote: readonly Command[] = [
  {
    name: 'login',
    group,
    summary: "Let this project's new runs live on a server",
    usage: 'stepfast login <url> [--token-stdin]',
    about:
      'Asks for a token, tries it, and keeps it for this project, for you alone and outside the repository. From then on runs begin on the server; those that are files here stay files. Every command, hook and tool then asks the server, and gates still run here. STEPFAST_URL and STEPFAST_TOKEN do the same for one process, and win.',
    options: [['--token-stdin', 'Read the token from what comes in, as in a script'], ...placeOptions],
    examples: [
      'stepfast login https://stepfast.example.com',
      'stepfast login https://stepfast.example.com --token-stdin < token.txt',
    ],
    load: () => import('../serve/login.ts'),
  },
  {
    name: 'logout',
    group,
    summary: 'Forget the server of this project',
    usage: 'stepfast logout',
    about:
      'Removes the token that login kept. New runs are files again; runs on the server stay there. The token itself stays good until somebody revokes it.',
    options: [...placeOptions],
    examples: ['stepfast logout'],
    load: () => import('../serve/logout.ts'),
  },
];
