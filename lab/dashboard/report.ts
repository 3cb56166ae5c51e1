import { row } from '../figures.ts';

/** A figure, and what it may be at most. */
interface Figure {
  name: string;
  what: string;
  value: number;
  unit: 'ms' | 'KB' | 'MB' | '';
  limit: number | undefined;
}

export class Report {
  readonly figures: Figure[] = [];

  add(name: string, what: string, value: number, unit: Figure['unit'], limit?: number): void {
    const figure = { name, what, value: Math.round(value * 10) / 10, unit, limit };
    this.figures.push(figure);
    const cells = [figure.value, limit ?? ''].map((cell) => (cell === '' ? '' : `${cell} ${unit}`.trim()));
    console.log(row([`  ${what}`, ...cells], 62) + (isBroken(figure) ? '  BROKEN' : ''));
  }

  part(title: string): void {
    console.log(`\n${row([title, 'measured', 'at most'], 62)}`);
  }

  get broken(): Figure[] {
    return this.figures.filter(isBroken);
  }
}

const isBroken = ({ value, limit }: Figure): boolean =>
  limit !== undefined && !(Number.isFinite(value) && value <= limit);
