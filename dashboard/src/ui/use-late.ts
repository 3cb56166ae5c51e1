import { useEffect, useState } from 'react';

/** False at first, true after a while: what is missing then is no longer waited for. */
export function useLate(ms: number): boolean {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), ms);
    return () => clearTimeout(timer);
  }, [ms]);
  return isLate;
}
