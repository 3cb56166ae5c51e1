import { excused, rowsOf, standsFor } from '../check.ts';
import * as artifacts from '../runners/artifacts.ts';

const reloads = standsFor(/(?:context-manager|prime-context)/, '004/command', 1, 2, 3, 4);

export const rows = rowsOf('004', {
  'block-1': [
    '1b3a312b',
    'drawing of two layers',
    excused('A drawing of two layers in prose: there is nothing in it to run.'),
  ],
  'block-2': ['9a39075f', 'JSON: configuration with critical artifacts', artifacts.configured],
  'block-3': ['15b8ea8e', 'JSON: sessions and loads in a state file', artifacts.stateFields],
  'block-4': ['bd2f9fd9', 'JSON: a phase with a step before it', artifacts.phasesFollowed],
  'block-5': ['0fc656d8', 'JSON: a path with a placeholder', artifacts.portable],
  'command-1': ['419e13dd', 'reloads the context', artifacts.primes],
  'command-2': ['d864f059', 'the same for a run', artifacts.primes],
  'command-3': ['db1e3025', 'the same for two artifacts', artifacts.primes],
  'command-4': ['20a3f963', 'the same by force', artifacts.primes],
  'command-5': ['68db4ba5', 'starts a run for a ticket', artifacts.startsBundled],
  'command-6': ['56a893fd', 'resumes a run on another machine', artifacts.resumes],
  'file-1': ['88693e45', 'the default configuration', artifacts.configured],
  'file-2': ['3280df93', 'state file of a run', artifacts.stateFile],
  'file-3': ['ffb634e6', 'schema of workflows', artifacts.schema],
  'file-4': ['81e3de51', 'schema of state files', artifacts.schema],
  'file-5': ['baad371d', 'the core configuration', artifacts.configured],
  'file-6': ['228dac6d', 'skill that reloads', reloads],
  'file-7': ['f62e01b7', 'what that skill does', reloads],
  'file-8': ['5bbe83c0', 'command that reloads', reloads],
  'file-9': ['3dcd68fb', 'page for users', artifacts.page],
  'file-10': ['46994649', 'page about reloading', artifacts.page],
  'file-11': ['e2b6d641', 'schema of workflows, by its name', artifacts.schema],
  'file-12': ['f02c4a1a', 'schema of state files, by its name', artifacts.schema],
  'file-13': [
    '6ebdb617',
    'instructions file of the host',
    excused('The document itself rules this use of the file out.'),
  ],
  'file-14': ['eb5d7bc8', 'page about loading context', artifacts.artifact],
  'file-15': ['da3e3a04', 'the orchestration protocol', artifacts.artifact],
  'file-16': ['de3bef1b', 'page about run ids', artifacts.artifact],
  'file-17': ['6b12d2f2', 'page about state', artifacts.artifact],
  'file-18': ['a46f3662', 'page about loading context, by its name', artifacts.artifact],
  'file-19': ['91245a11', 'a plan, with a placeholder', artifacts.artifact],
  'file-20': ['37af2a55', 'a specification, with a placeholder', artifacts.portable],
});
