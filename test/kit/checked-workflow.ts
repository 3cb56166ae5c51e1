/** Workflows whose gates decide at the end of a turn. */

/** Passes once `total.txt` has 42 in it. */
export const passes = 'grep -q 42 total.txt || { echo not ok 1 - the total is wrong; exit 1; }';

/** `steps` are lines of YAML below `steps:`, and whatever follows them. */
export const workflow = (steps: string, name = 'w'): string =>
  `name: ${name}\ndescription: Does it\nstop: check\nsteps:\n${steps}`;

/** One step with the gate; its instructions have the id in capitals. */
export const step = (id: string, more: string): string =>
  `  - { id: ${id}, type: action, instructions: INSTRUCTIONS-${id.toUpperCase()}, ${more} }\n`;

export const gate = (run: string): string => `gate: [{ run: ${JSON.stringify(run)} }]`;

/** A slow gate starts with it. It ends when the test creates the file, so that no test waits for a clock. */
export const until = 'while [ ! -f ../release ]; do sleep 0.05; done';
