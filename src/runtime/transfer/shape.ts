/** A shape whose type is of no matter. */
export interface AnyShape {
  /** Where in the value something is wrong, and what; undefined where nothing is. */
  wrong(value: unknown): string | undefined;
  readonly optional?: true;
}

/** What a value from elsewhere must be, down to its last part. */
export interface Shape<T> extends AnyShape {
  /** Never there: ties the shape to exactly one type. */
  readonly of?: (value: T) => T;
}

interface OptionalShape<T> extends Shape<T> {
  readonly optional: true;
}

/** A shape for every key of the type, the optional ones marked: a key that is added later cannot be forgotten. */
export type Fields<T> = {
  readonly [K in keyof T]-?: Record<never, never> extends Pick<T, K>
    ? OptionalShape<Exclude<T[K], undefined>>
    : Shape<T[K]>;
};

export const optional = <T>(shape: Shape<T>): OptionalShape<T> => ({ ...shape, optional: true });

// The mapped type is a record of shapes, whatever T is.
export const object = <T>(fields: Fields<T>): Shape<T> => withFields(fields as Record<string, AnyShape>);

/** With these keys and no others. */
export function withFields(shapes: Readonly<Record<string, AnyShape>>): AnyShape {
  return {
    wrong(value) {
      if (!isObject(value)) return ' is no object';
      const strange = Object.keys(value).find((key) => !Object.hasOwn(shapes, key));
      if (strange !== undefined) return `.${strange.slice(0, 40)} is not known here`;
      for (const [key, shape] of Object.entries(shapes)) {
        if (!Object.hasOwn(value, key)) {
          if (shape.optional) continue;
          return `.${key} is missing`;
        }
        const wrong = shape.wrong(value[key]);
        if (wrong !== undefined) return `.${key}${wrong}`;
      }
      return undefined;
    },
  };
}

export const list = <T>(shape: Shape<T>, most: number): Shape<T[]> => ({
  wrong(value) {
    if (!Array.isArray(value)) return ' is no list';
    if (value.length > most) return ` has more than ${most} entries`;
    for (const [index, each] of value.entries()) {
      const wrong = shape.wrong(each);
      if (wrong !== undefined) return `[${index}]${wrong}`;
    }
    return undefined;
  },
});

export const record = <T>(shape: Shape<T>, most: number, longestKey = 1000): Shape<Record<string, T>> => ({
  wrong(value) {
    if (!isObject(value)) return ' is no object';
    const entries = Object.entries(value);
    if (entries.length > most) return ` has more than ${most} entries`;
    for (const [key, each] of entries) {
      const wrong = key.length > longestKey ? ' has a name that is too long' : shape.wrong(each);
      if (wrong !== undefined) return `.${key.slice(0, 40)}${wrong}`;
    }
    return undefined;
  },
});

export const text = (longest: number): Shape<string> => ({
  wrong(value) {
    if (typeof value !== 'string') return ' is no text';
    return value.length > longest ? ` is longer than ${longest} characters` : undefined;
  },
});

export const matching = (pattern: RegExp): Shape<string> => ({
  wrong: (value) =>
    typeof value === 'string' && pattern.test(value) ? undefined : ' is not written as it should be',
});

export const number = (least: number, most: number): Shape<number> => ({
  wrong: (value) =>
    typeof value === 'number' && value >= least && value <= most
      ? undefined
      : ` is no number from ${least} to ${most}`,
});

export const whole = (least: number, most: number): Shape<number> => ({
  wrong: (value) => (Number.isSafeInteger(value) ? number(least, most).wrong(value) : ' is no whole number'),
});

export const flag: Shape<boolean> = {
  wrong: (value) => (typeof value === 'boolean' ? undefined : ' is neither true nor false'),
};

export const onlyTrue: Shape<true> = { wrong: (value) => (value === true ? undefined : ' is not true') };

export const oneOf = <T extends string>(values: Readonly<Record<T, true>>): Shape<T> => ({
  wrong: (value) =>
    typeof value === 'string' && Object.hasOwn(values, value) ? undefined : ' has a value that is not known',
});

/** One of several; told is what is wrong with the last. */
export const either = <A, B>(first: Shape<A>, second: Shape<B>): Shape<A | B> => ({
  wrong: (value) => first.wrong(value) && second.wrong(value),
});

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
