import { useIsFetching, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';

/** Frames without data or code on its way, after which the page shows all that came. */
const quietFrames = 2;

/** For tests: the root element has `data-ready` while the page is loaded and shown. */
export function useReady(): void {
  const client = useQueryClient();
  const isFetching = useIsFetching() > 0;
  useEffect(() => {
    if (isFetching) return;
    const { dataset } = document.documentElement;
    let quiet = 0;
    let frame = 0;
    const look = (): void => {
      const isBusy = client.isFetching() > 0 || document.querySelector('[aria-busy]') !== null;
      quiet = isBusy ? 0 : quiet + 1;
      if (quiet > quietFrames) dataset.ready = '';
      else frame = requestAnimationFrame(look);
    };
    look();
    return () => {
      cancelAnimationFrame(frame);
      delete dataset.ready;
    };
  }, [client, isFetching]);
}
