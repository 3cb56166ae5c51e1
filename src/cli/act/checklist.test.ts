import { expect, test } from 'vitest';
import { readChecklist } from './checklist.ts';

const specKit = `# Tasks: Photo albums

**Input**: Design documents from \`/specs/001-photo-albums/\`

## Format: \`[ID] [P?] [Story] Description\`

## Phase 1: Setup (Shared Infrastructure)

- [x] T001 Create project structure per implementation plan
- [ ] T002 Initialize TypeScript project
- [ ] T003 [P] Configure linting
- [ ] T004 [P] Configure tests in tests/setup.ts

## Phase 3: User Story 1 - See albums (Priority: P1)

- [ ] T010 [P] [US1] Contract test for GET /albums in tests/contract/albums.ts
- [ ] T011 [US1] Implement AlbumService in src/services/album.ts (depends on T010)

\`\`\`bash
- [ ] T999 not a task, an example
\`\`\`
`;

test('a list of spec-kit gives ids, titles, stories and phases', () => {
  const { tasks, done } = readChecklist(specKit);
  expect(done).toEqual(['T001 Create project structure per implementation plan']);
  expect(tasks.map(({ id, title }) => `${id} ${title}`)).toEqual([
    'T002 Initialize TypeScript project',
    'T003 Configure linting',
    'T004 Configure tests in tests/setup.ts',
    'T010 Contract test for GET /albums in tests/contract/albums.ts',
    'T011 Implement AlbumService in src/services/album.ts (depends on T010)',
  ]);
  expect(tasks[3]?.description).toBe(
    'Part of: Phase 3: User Story 1 - See albums (Priority: P1)\nStory: US1',
  );
});

test('where [P] is used, a task without it waits for what stands before it, and a section for the one before it', () => {
  const { tasks } = readChecklist(specKit);
  expect(Object.fromEntries(tasks.map(({ id, depends_on }) => [id, depends_on]))).toEqual({
    T002: undefined,
    T003: ['T002'],
    T004: ['T002'],
    T010: ['T003', 'T004'],
    T011: ['T010'],
  });
});

const openSpec = `## 1. Implementation
- [x] 1.1 Create database schema
- [ ] 1.2 Implement API endpoint
  - returns 404 for an unknown id
- [ ] 1.3 Add frontend component

## 2. Tests
- [ ] 2.1 Write tests
  - [ ] unit
  - [x] end to end
`;

test('a list of OpenSpec keeps its dotted ids, its sections and its details', () => {
  const { tasks, done } = readChecklist(openSpec);
  expect(done).toEqual(['1.1 Create database schema']);
  expect(tasks).toEqual([
    {
      id: '1.2',
      title: 'Implement API endpoint',
      description: 'Part of: 1. Implementation\n- returns 404 for an unknown id',
    },
    { id: '1.3', title: 'Add frontend component', description: 'Part of: 1. Implementation' },
    { id: '2.1', title: 'Write tests', description: 'Part of: 2. Tests\n- [ ] unit\n- [x] end to end' },
  ]);
});

test('an item whose children have ids is their heading', () => {
  const { tasks } = readChecklist(
    '- [ ] 1. Set up\n  - [ ] 1.1 Schema\n    - with an index\n  - [ ] 1.2 Client\n- [ ] 2. Tests\n',
  );
  expect(tasks).toEqual([
    { id: '1.1', title: 'Schema', description: 'Part of: Set up\n- with an index' },
    { id: '1.2', title: 'Client', description: 'Part of: Set up' },
    { id: '2', title: 'Tests' },
  ]);
});

test('items without ids are counted, and no id is given twice', () => {
  const { tasks } = readChecklist(
    '* [ ] 3 unit tests\n* [ ] T1 One\n* [ ] T1 Two\n* [ ] **T2** Bold\n1. [ ] Numbered\n',
  );
  expect(tasks.map(({ id, title }) => `${id}: ${title}`)).toEqual([
    'task-1: 3 unit tests',
    'T1: One',
    'T1-2: Two',
    'T2: Bold',
    'task-5: Numbered',
  ]);
});

test('a text without a checklist has no tasks', () => {
  expect(readChecklist('# Plan\n\n- one\n- two\n')).toEqual({ tasks: [], done: [] });
});

test('every id is one that the machine takes', () => {
  const { tasks } = readChecklist(
    `- [ ] ${'1.'.repeat(60)}1 Deep\n- [ ] constructor: x\n- [ ] __proto__ y\n`,
  );
  for (const { id } of tasks) expect(id).toMatch(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/);
});
