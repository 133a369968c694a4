// The line below a film: what is loaded, where it is, and, where one points, a picture of the film there. The picture is one that was stored for that, or
// comes from a second, silent player of the same file that seeks while one points; on connections that save data there is only the time.

import { Thumbnails } from './thumbnails.js';

const tipWidth = 192;
const seekWaitMs = 120;

export function clockWords(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (value) => String(value).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** Makes the line work for a film. */
export function prepareTimeline(media, line) {
  const loaded = line.querySelector('.loaded');
  const played = line.querySelector('.played');
  const tip = line.querySelector('.tip');
  const known = () => Number.isFinite(media.duration) && media.duration > 0;

  const draw = () => {
    if (!known()) return;
    const { duration, currentTime, buffered } = media;
    const pen = loaded.getContext('2d');
    pen.clearRect(0, 0, loaded.width, 1);
    pen.fillStyle = getComputedStyle(line).color;
    for (let i = 0; i < buffered.length; i++) {
      const [from, to] = [buffered.start(i) / duration, buffered.end(i) / duration];
      pen.fillRect(from * loaded.width, 0, Math.max(1, (to - from) * loaded.width), 1);
    }
    played.style.width = `${(100 * currentTime) / duration}%`;
    line.setAttribute('aria-valuemax', String(Math.round(duration)));
    line.setAttribute('aria-valuenow', String(Math.round(currentTime)));
    line.setAttribute('aria-valuetext', `${clockWords(currentTime)} of ${clockWords(duration)}`);
  };
  for (const name of ['progress', 'timeupdate', 'seeked', 'loadedmetadata', 'durationchange']) media.addEventListener(name, draw);

  const timeAt = (event) => {
    const { left, width } = line.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - left) / width)) * media.duration;
  };
  const look = makeLook(media, tip);
  line.addEventListener('pointermove', (event) => {
    if (!known()) return;
    const { left, width } = line.getBoundingClientRect();
    const middle = Math.min(width - tipWidth / 2, Math.max(tipWidth / 2, event.clientX - left));
    tip.style.left = `${middle}px`;
    tip.hidden = false;
    look(timeAt(event));
    if (event.buttons === 1) media.currentTime = timeAt(event);
  });
  line.addEventListener('pointerleave', () => (tip.hidden = true));
  line.addEventListener('pointerdown', (event) => {
    if (!known()) return;
    line.setPointerCapture(event.pointerId);
    media.currentTime = timeAt(event);
  });
  line.addEventListener('keydown', (event) => {
    const to = { Home: 0, End: media.duration, PageUp: media.currentTime + media.duration / 10, PageDown: media.currentTime - media.duration / 10 }[event.key];
    if (to === undefined || !known()) return;
    event.preventDefault();
    media.currentTime = Math.min(media.duration, Math.max(0, to));
  });
}

/** Shows the time, and the picture there as soon as it is. */
function makeLook(media, tip) {
  const when = tip.querySelector('.when');
  const picture = tip.querySelector('canvas');
  const saves = navigator.connection?.saveData === true;
  let stored;
  let second;
  let wanted = 0;
  let timer;
  const seek = () => {
    if (!second || second.seeking || second.readyState < 1) return;
    if (second.fastSeek) second.fastSeek(wanted);
    else second.currentTime = wanted;
  };
  const begin = () => {
    second = document.createElement('video');
    second.muted = true;
    second.preload = 'metadata';
    second.src = media.currentSrc;
    second.addEventListener('loadedmetadata', seek);
    second.addEventListener('seeked', () => {
      picture.height = Math.round((tipWidth * second.videoHeight) / Math.max(1, second.videoWidth));
      picture.getContext('2d').drawImage(second, 0, 0, picture.width, picture.height);
      tip.classList.add('seen');
      if (Math.abs(second.currentTime - wanted) > 1) seek();
    });
  };
  const play = () => {
    if (!second) begin();
    clearTimeout(timer);
    timer = setTimeout(seek, seekWaitMs);
  };
  const show = async (seconds) => {
    const found = await stored.at(seconds);
    if (wanted !== seconds) return;
    if (!found) {
      play();
      return;
    }
    picture.height = Math.round((tipWidth * found.height) / found.width);
    picture.getContext('2d').drawImage(found.picture, found.x, found.y, found.width, found.height, 0, 0, picture.width, picture.height);
    tip.classList.add('seen');
  };
  return (seconds) => {
    when.textContent = clockWords(seconds);
    wanted = seconds;
    if (saves || !media.videoWidth) return;
    const { thumbnails } = media.dataset;
    if (thumbnails) stored ??= new Thumbnails(thumbnails);
    if (stored) void show(seconds);
    else play();
  };
}
