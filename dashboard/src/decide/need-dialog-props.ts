import type { NeedPage, RunPage } from '../api-types.ts';

export interface NeedDialogProps {
  page: RunPage;
  need: NeedPage;
  onClose(): void;
}
