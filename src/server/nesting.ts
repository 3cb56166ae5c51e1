/** Whether arrays and objects are deeper in each other than this: a scan of the text, before anything is made of it. */
export function isDeeperThan(json: string, most: number): boolean {
  let depth = 0;
  let text = false;
  for (let at = 0; at < json.length; at += 1) {
    const sign = json.charCodeAt(at);
    if (text) {
      if (sign === backslash) at += 1;
      else if (sign === quote) text = false;
    } else if (sign === quote) text = true;
    else if (sign === openList || sign === openObject) {
      depth += 1;
      if (depth > most) return true;
    } else if (sign === closeList || sign === closeObject) depth -= 1;
  }
  return false;
}

const quote = 0x22;
const backslash = 0x5c;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;
