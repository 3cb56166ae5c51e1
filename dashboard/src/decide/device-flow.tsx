import { type JSX, useEffect, useEffectEvent, useState } from 'react';
import { type DeviceCode, redeemDevice, startDevice } from '../api/client.ts';
import { classNames } from '../ui/class-names.ts';
import ui from '../ui/ui.module.css';
import css from './decide.module.css';
import { Refusal, refusalOf } from './refusal.tsx';

/** The person proves at the issuer who they are, and this page waits for it. */
export function DeviceFlow({ issuer, onDone }: { issuer: string; onDone(): void }): JSX.Element {
  const [device, setDevice] = useState<DeviceCode>();
  const [refusal, setRefusal] = useState<string>();
  const done = useEffectEvent(onDone);
  useEffect(() => {
    if (!device) return undefined;
    let timer: ReturnType<typeof setTimeout>;
    const redeem = async (): Promise<void> => {
      try {
        if (await redeemDevice(device)) return done();
        timer = setTimeout(redeem, device.seconds * 1000);
      } catch (error) {
        setDevice(undefined);
        setRefusal(refusalOf(error));
      }
    };
    timer = setTimeout(redeem, device.seconds * 1000);
    return () => clearTimeout(timer);
  }, [device]);
  const start = async (): Promise<void> => {
    setRefusal(undefined);
    try {
      setDevice(await startDevice());
    } catch (error) {
      setRefusal(refusalOf(error));
    }
  };
  return (
    <>
      {device ? (
        <>
          <p>
            Open{' '}
            <a className={css.link} href={device.url} target="_blank" rel="noreferrer">
              {device.url}
            </a>{' '}
            and check that it shows this code:
          </p>
          <p className={classNames(ui.mono, css.deviceCode)}>{device.code}</p>
          <p className={ui.soft} role="status">
            Waiting for you there…
          </p>
        </>
      ) : (
        <button
          type="button"
          data-first
          className={classNames(ui.btn, ui.primary)}
          onClick={() => void start()}
        >
          Sign in with {new URL(issuer).host}
        </button>
      )}
      <Refusal text={refusal} />
    </>
  );
}
