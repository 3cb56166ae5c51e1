import type { JSX } from 'react';
import type { NeedPage, RunPage } from '../api-types.ts';
import type { RunAction } from '../run/run-header.tsx';
import { NeedDialog } from './need-dialogs.tsx';
import { CancelDialog, DropTaskDialog, PauseDialog, RewindDialog, UnpauseDialog } from './run-dialogs.tsx';

const actions = {
  pause: PauseDialog,
  unpause: UnpauseDialog,
  rewind: RewindDialog,
  cancel: CancelDialog,
  dropTask: DropTaskDialog,
};

interface Props {
  page: RunPage;
  need: NeedPage | undefined;
  action: RunAction | undefined;
  onClose(): void;
}

export default function Dialog({ page, need, action, onClose }: Props): JSX.Element | null {
  if (action) {
    const Chosen = actions[action];
    return <Chosen page={page} onClose={onClose} />;
  }
  return need ? <NeedDialog page={page} need={need} onClose={onClose} /> : null;
}
