/**
 * Whether receipts still hold: they do only for the tree that they were made on. `unknown` if one of the two hashes is
 * missing, which proves nothing either way.
 */
export function receiptValidity(
  receiptTree: string | undefined,
  currentTree: string | undefined,
): 'valid' | 'stale' | 'unknown' {
  if (receiptTree === undefined || currentTree === undefined) return 'unknown';
  return receiptTree === currentTree ? 'valid' : 'stale';
}
