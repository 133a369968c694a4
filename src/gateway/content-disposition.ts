// Content-Disposition (RFC 6266): a name for the file where the browser saves it, in ASCII for old ones and in full by RFC 8187.

/** `name` may have any characters; only what follows its last slash is told. */
export function contentDisposition(kind: 'inline' | 'attachment', name: string | undefined): string {
  const base = (name ?? '').slice((name ?? '').lastIndexOf('/') + 1);
  // Controls are never part of a name; a lone surrogate has no UTF-8.
  const clean = base.replace(/\p{Cs}/gu, '\u{fffd}').replace(/\p{Cc}/gu, '');
  if (clean === '') return kind;
  const plain = clean.replace(/[^\x20-\x7e]/gu, '_');
  const quoted = `${kind}; filename="${plain.replace(/["\\]/g, '\\$&')}"`;
  // Some browsers decode percent signs in the plain form, and take backslashes for separators.
  return plain === clean && !/[%"\\]/.test(clean) ? quoted : `${quoted}; filename*=UTF-8''${encodeExtended(clean)}`;
}

/** attr-char of RFC 8187: what encodeURIComponent leaves, without ' ( ) *. */
function encodeExtended(text: string): string {
  return encodeURIComponent(text).replace(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}
