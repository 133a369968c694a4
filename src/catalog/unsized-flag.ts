// Whether the bytes of a collection's documents are still counted: from its first update on that was written without a read they are not.

/** Whether bytes of a collection are no longer counted, as a transaction that committed has noted. */
export class UnsizedFlag {
  isKnown: boolean = false;

  flagsCommitted(): void {
    this.isKnown = true;
  }
}
