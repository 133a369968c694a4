// The browser and the film maker of this machine (Debian's packages chromium and ffmpeg), where they are.

import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

function programNamed(name: string): string | undefined {
  return (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, name)).find((path) => existsSync(path));
}

export const browserPath: string | undefined = programNamed('chromium');
export const ffmpeg: string | undefined = programNamed('ffmpeg');

/** Chromium that asks nobody but the gateway. */
export const quietly: readonly string[] = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--autoplay-policy=no-user-gesture-required'];
