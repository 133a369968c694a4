// The name of a certificate's subject as text (RFC 2253): the last part first, commas between, special characters escaped. It is the name of
// the user in `$external` for MONGODB-X509.

/** Escapes what RFC 2253, section 2.4, names. */
function escaped(value: string): string {
  return value.replace(/[,+"\\<>;]/g, String.raw`\$&`).replace(/^[ #]/, String.raw`\$&`).replace(/ $/, String.raw`\ `);
}

/** The name from its parts in the order of the certificate, as `[['C', 'DE'], ['O', 'Firm'], ['CN', 'joe']]`. */
export function distinguishedName(parts: readonly (readonly [string, string])[]): string {
  return parts
    .toReversed()
    .map(([name, value]) => `${name}=${escaped(value)}`)
    .join(',');
}
