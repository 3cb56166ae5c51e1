import { Fragment, type JSX } from 'react';
import { modKey } from './keys.ts';
import { Modal } from './modal.tsx';
import css from './palette.module.css';

const keys: [string, string[]][] = [
  ['Search or jump to', [modKey, 'K']],
  ['Filter the runs', ['/']],
  ['Next, previous run', ['J', 'K']],
  ['Open the run', ['↵']],
  ['What needs you', ['1', '…', '9']],
  ['First action of a run', ['A']],
  ['Next, previous failure in a log', ['E', '⇧E']],
  ['Skip idle time', ['I']],
  ['Previous, next move of a dry run', ['←', '→']],
  ['All runs', ['G', 'R']],
  ['Workflows', ['G', 'W']],
  ['Light or dark', ['T']],
  ['Send a decision', [modKey, '↵']],
  ['This help', ['?']],
];

export default function Help({ onClose }: { onClose(): void }): JSX.Element {
  return (
    <Modal label="Keyboard" className={css.help} onClose={onClose}>
      <h2>Keyboard</h2>
      <dl>
        {keys.map(([what, names]) => (
          <Fragment key={what}>
            <dt>{what}</dt>
            <dd>
              {names.map((name) => (
                <kbd key={name}>{name}</kbd>
              ))}
            </dd>
          </Fragment>
        ))}
      </dl>
    </Modal>
  );
}
