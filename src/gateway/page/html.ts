// Text as HTML, and numbers and times in words. Everything that users chose goes through `escapeHtml`, in text and in quoted attributes alike.

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** The text so that HTML shows it as it is. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (one) => entities[one] ?? one);
}

const units = ['bytes', 'KB', 'MB', 'GB', 'TB', 'PB'];

/** A number of bytes as people say it, in powers of 1000. */
export function describeBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.5 ? 0 : 1;
  return `${value.toFixed(digits)} ${unit === 0 && value === 1 ? 'byte' : (units[unit] ?? '')}`;
}

/** A chunk size as it was chosen: in powers of 1024 where it is one of these, else as any number of bytes. */
export function describeChunk(bytes: number): string {
  if (bytes > 0 && bytes % (1024 * 1024) === 0) return `${bytes / 1024 / 1024} MiB`;
  return bytes > 0 && bytes % 1024 === 0 ? `${bytes / 1024} KiB` : describeBytes(bytes);
}

/** A time for people; the script of the page puts it into the reader's own zone. */
export function timeElement(ms: number): string {
  const iso = new Date(ms).toISOString();
  return `<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')}</time>`;
}
