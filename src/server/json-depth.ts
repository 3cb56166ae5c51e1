/** Scans the text before it is parsed: deep nesting can overflow the parser's stack. */
export function exceedsDepth(json: string, max: number): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < json.length; at += 1) {
    const char = json.charCodeAt(at);
    if (inString) {
      if (char === backslash) at += 1;
      else if (char === quote) inString = false;
    } else if (char === quote) inString = true;
    else if (char === openList || char === openObject) {
      depth += 1;
      if (depth > max) return true;
    } else if (char === closeList || char === closeObject) depth -= 1;
  }
  return false;
}

const quote = 0x22;
const backslash = 0x5c;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;
