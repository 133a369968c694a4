// Preloaded into a server process: the longest stretch of processor time that its main thread takes between two turns of its event loop. Wall time would
// say how busy the machine is. Told 'start' and 'stop' over the channel to its parent, it answers 'stop' with milliseconds.

import { openSync, readSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const file = isMainThread && process.send !== undefined ? openSync(`/proc/self/task/${String(process.pid)}/schedstat`, 'r') : undefined;
const buffer = new Uint8Array(64);

function processorMs(fd: number): number {
  return Number(new TextDecoder().decode(buffer.subarray(0, readSync(fd, buffer, 0, 64, 0))).split(' ')[0]) / 1e6;
}

if (file !== undefined) {
  let last = 0;
  let longest = 0;
  let isOn = false;
  const look = (): void => {
    const now = processorMs(file);
    longest = Math.max(longest, now - last);
    last = now;
    if (isOn) setTimeout(look, 1);
  };
  process.on('message', (message) => {
    if (message === 'start') {
      isOn = true;
      longest = 0;
      last = processorMs(file);
      setTimeout(look, 1);
    } else {
      isOn = false;
      look();
      process.send?.(longest);
    }
  });
  process.channel?.unref();
}
