import { type JSX, useId } from 'react';
import css from './segments.module.css';
import ui from './ui.module.css';

/** A choice between few options, as one control. */
export function Segments<V extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: V;
  options: readonly (readonly [V, string])[];
  onChange(value: V): void;
}): JSX.Element {
  const name = useId();
  return (
    <fieldset>
      <legend className={ui.sr}>{label}</legend>
      <div className={css.segments}>
        {options.map(([option, text]) => (
          <label key={option} className={option === value ? css.on : undefined}>
            <input
              type="radio"
              name={name}
              value={option}
              checked={option === value}
              data-first={option === value ? '' : undefined}
              onChange={() => onChange(option)}
            />
            {text}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
