/** The situations that docs/claude-code.md shows. The agent calls no tool of Stepfast. */
import {
  forgetsAll,
  lastUser,
  type ModelRequest,
  reply,
  type ScriptedModel,
  summariser,
} from '../../src/testing/index.ts';

export interface Scene {
  agent(model: ScriptedModel, file: (name: string) => string): void;
  /**
   * What the person types, and what then has to be on the screen. `reopens`: claude is closed and opened first. `shown`:
   * the screen is drawn with this title; `from`: beginning with the last such line instead of the first prompt.
   */
  person: readonly { types?: string; until: RegExp; reopens?: true; shown?: string; from?: RegExp }[];
}

export const files = {
  'package.json': '{ "name": "shop", "type": "module", "scripts": { "test": "node --test" } }\n',
  'login.js': 'export const canLogIn = (user) => user.password !== "";\n',
  'login.test.js': `import assert from 'node:assert';
import { test } from 'node:test';
import { canLogIn } from './login.js';
test('an empty password is refused', () => assert.equal(canLogIn({ password: '' }), false));
test('a blank password is refused', () => assert.equal(canLogIn({ password: '  ' }), false));
`,
  '.stepfast/workflows/go.yaml': `name: go
extends: go
steps:
  - id: do
    gate:
      - run: npm test
`,
  '.stepfast/workflows/slow.yaml': `name: slow
description: Its tests take half a minute
stop: check
steps:
  - { id: do, type: action, instructions: Do what the user asked for., gate: [{ run: sleep 30 && npm test }] }
`,
  '.stepfast/workflows/two.yaml': `name: two
description: Plan, then build with a fresh context
stop: check
steps:
  - { id: plan, type: action, instructions: Write the plan to PLAN.md., gate: [{ exists: PLAN.md }], review: { by: human } }
  - { id: build, type: action, context: clear, instructions: Build what the plan says., gate: [{ exists: profile.js }] }
`,
};

/** The agent has this in its context. */
const told =
  (text: RegExp) =>
  (request: ModelRequest): boolean =>
    request.kind === 'main' && text.test(JSON.stringify(request.body.messages));

const before = 'user.password !== ""';
const wrong = 'user.password !== "" && user.password !== " "';
const right = 'user.password.trim() !== ""';
const task = 'refuse blank passwords at login';
const failing = told(/when your turn ended, and they fail/);

const edit = (file: (name: string) => string, from: string, to: string) =>
  reply.tool('Edit', { file_path: file('login.js'), old_string: from, new_string: to });
const read = (file: (name: string) => string) => reply.tool('Read', { file_path: file('login.js') });
const write = (path: string, content: string) => reply.tool('Write', { file_path: path, content });

/** Forgets what a check then finds. */
const claims = (file: (name: string) => string) => [
  read(file),
  edit(file, before, wrong),
  reply.text('Blank passwords are refused now. All tests pass.'),
];

/** Fixes what a check has found. */
const fixes = (model: ScriptedModel, file: (name: string) => string): void =>
  void model.on(
    failing,
    edit(file, wrong, right),
    reply.text('They did not: two blanks still got in. login.js trims the password now.'),
  );

const plansAndBuilds: Scene['agent'] = (model, file) => {
  model.on(
    lastUser(/profile page/),
    write(file('PLAN.md'), '# A profile page\n'),
    reply.text('The plan is in PLAN.md.'),
  );
  model.on(
    told(/Build what the plan says/),
    write(file('profile.js'), 'export {};\n'),
    reply.text('The profile page is there.'),
  );
  model.always(lastUser(/./), reply.text('The plan is approved.'));
};
export const scenes: Record<string, Scene> = {
  'false-done': {
    agent(model, file) {
      model.always(summariser(), forgetsAll());
      model.on(lastUser(/blank passwords/), read(file), reply.text('Do two blanks count as blank, too?'));
      model.on(lastUser(/they do/), ...claims(file));
      fixes(model, file);
    },
    person: [
      { types: `/stepfast:go ${task}`, until: /too\?/, shown: 'You give a task. Claude has a question' },
      { types: '/compact', until: /Compacted/i },
      {
        types: 'they do',
        until: /✓ go complete/,
        shown: 'After a compaction a false “done” is caught, and the fix is proven',
      },
    ],
  },
  decision: {
    agent: plansAndBuilds,
    person: [
      { types: '/stepfast:start two a profile page', until: /stepfast:approve [0-9a-f]{4}/ },
      {
        types: '/stepfast:approve CODE',
        until: /Type \/clear/,
        shown: 'A decision is typed in the session; the next step starts with a fresh context',
      },
      { types: '/clear', until: /✓ two complete/, shown: 'After /clear the session continues by itself' },
    ],
  },
  offer: {
    agent(model, file) {
      model.on(lastUser(/blank passwords/), read(file), reply.text('I have read login.js.'));
      model.on(lastUser(/what does/i), read(file), reply.text('It says who may log in.'));
      model.on(
        lastUser(/continue/),
        read(file),
        edit(file, before, right),
        reply.text('Blank passwords are refused now.'),
      );
    },
    person: [
      { types: `/stepfast:go ${task}`, until: /I have read/ },
      { reopens: true, types: 'what does login.js do?', until: /who may log in/ },
      {
        types: 'continue',
        until: /✓ go complete/,
        shown: 'A new session is offered the unfinished run, and takes it up with one word',
      },
    ],
  },
  'slow-check': {
    agent(model, file) {
      model.on(lastUser(/blank passwords/), ...claims(file));
      fixes(model, file);
    },
    person: [
      { types: `/stepfast:start slow ${task}`, until: /is still running/ },
      { until: /two blanks still/ },
      {
        until: /✓ slow complete|is still running[\s\S]*is still running/,
        shown: 'Slow tests run in the background, and wake the session when they fail',
      },
    ],
  },
  'still-red': {
    agent(model) {
      let count = 0;
      model.always(lastUser(/./), () => {
        count += 1;
        return count % 2 === 1
          ? reply.tool('Bash', { command: 'touch login.js', description: 'Saves login.js' })
          : reply.text('Everything works. All tests pass.');
      });
    },
    person: [
      { types: `/stepfast:go ${task}`, until: /still fails/ },
      {
        types: '/stepfast:cancel the agent is stuck',
        until: /cancelled, not/,
        shown: 'An agent that insists is let go in the end, and you see what still fails',
        from: /Everything works/,
      },
    ],
  },
};
