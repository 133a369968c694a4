// What the command line got wrong, told in one line with exit status 2; and any other end of a command, with its status.

/** A wrong word on the command line or in the configuration file. */
export class FrondUsage extends Error {
  override readonly name: string = 'FrondUsage';
}
