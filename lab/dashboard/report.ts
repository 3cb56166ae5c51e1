import { row } from '../figures.ts';

/** A figure, and what it may be at most. */
export interface Figure {
  name: string;
  what: string;
  value: number;
  unit: 'ms' | 'KB' | 'MB' | '';
  limit?: number;
}

export class Report {
  readonly figures: Figure[] = [];

  add(name: string, what: string, value: number, unit: Figure['unit'], limit?: number): void {
    const rounded = Math.round(value * 10) / 10;
    const figure = { name, what, value: rounded, unit, ...(limit === undefined ? {} : { limit }) };
    this.figures.push(figure);
    console.log(lineOf(figure));
  }

  part(title: string): void {
    console.log(`\n${row([title, 'measured', 'at most'], 62)}`);
  }

  get broken(): Figure[] {
    return this.figures.filter(isBroken);
  }

  get json(): object {
    return Object.fromEntries(this.figures.map(({ name, value }) => [name, value]));
  }
}

const isBroken = ({ value, limit }: Figure): boolean =>
  limit !== undefined && !(Number.isFinite(value) && value <= limit);

function lineOf(figure: Figure): string {
  const { what, value, unit, limit } = figure;
  const cells = [`${value} ${unit}`.trim(), limit === undefined ? '' : `${limit} ${unit}`.trim()];
  return row([`  ${what}`, ...cells], 62) + (isBroken(figure) ? '  BROKEN' : '');
}
