// Small pictures of a film that somebody made before and stored beside it: a WebVTT file whose cues name, for each stretch of time, a picture or a part of one
// (`sprite.jpg#xywh=160,90,160,90`). Only what lies at this gateway is fetched.

const cueTimes = /^((?:\d+:)?\d\d:\d\d\.\d{3})[ \t]+-->[ \t]+((?:\d+:)?\d\d:\d\d\.\d{3})/;
const part = /#xywh=(?:pixel:)?(\d+),(\d+),(\d+),(\d+)$/;

const secondsOf = (text) => text.split(':').reduce((sum, digits) => 60 * sum + Number(digits), 0);

/** The cues of a WebVTT text: from when, until when, which picture, which part of it. */
export function readCues(text, address) {
  const cues = [];
  for (const block of text.replace(/\r\n?/g, '\n').split(/\n{2,}/)) {
    const lines = block.split('\n').filter((line) => line !== '');
    const at = lines.findIndex((line) => cueTimes.test(line));
    const target = at < 0 ? undefined : lines[at + 1]?.trim();
    if (!target) continue;
    const [, from, to] = cueTimes.exec(lines[at]);
    const url = new URL(target, address);
    if (url.origin !== location.origin) continue;
    const box = part.exec(url.hash)?.slice(1).map(Number);
    url.hash = '';
    cues.push({ from: secondsOf(from), to: secondsOf(to), url: url.href, box });
  }
  return cues;
}

/** The pictures that the text at an address names. */
export class Thumbnails {
  #cues;
  #pictures = new Map();

  constructor(address) {
    const url = new URL(address, location.href);
    this.#cues = fetch(url).then(async (response) => (response.ok ? readCues(await response.text(), url) : [])).catch(() => []);
  }

  /** The picture of a moment, and which part of it; undefined: there is none. */
  async at(seconds) {
    const cue = (await this.#cues).find(({ from, to }) => seconds >= from && seconds < to);
    if (!cue) return undefined;
    const picture = await this.#picture(cue.url);
    if (!picture) return undefined;
    const [x, y, width, height] = cue.box ?? [0, 0, picture.naturalWidth, picture.naturalHeight];
    return width > 0 && height > 0 ? { picture, x, y, width, height } : undefined;
  }

  #picture(url) {
    const known = this.#pictures.get(url);
    if (known) return known;
    const image = document.createElement('img');
    image.src = url;
    const loading = image.decode().then(() => image, () => undefined);
    this.#pictures.set(url, loading);
    return loading;
  }
}
